"""What pages and notebooks study the lessons' code with: small models, rivals, ways of looking."""
