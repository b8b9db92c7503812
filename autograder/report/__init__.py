"""What people get to read: feedback pages, tables of grades, the class report."""
