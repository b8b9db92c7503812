// Paper is white: print the light colours even when the screen is dark.
(() => {
  const paper = matchMedia("print");
  const page = document.documentElement.dataset;
  const choose = () => {
    if (paper.matches) [page.themeOnScreen, page.theme] = [page.theme, "light"];
    else if (page.themeOnScreen) page.theme = page.themeOnScreen;
  };
  paper.addEventListener("change", choose);
  choose();
})();

// Small repairs to what the theme and the widgets leave unnamed for screen readers.
document.addEventListener("DOMContentLoaded", () => {
  const all = (selector) => document.querySelectorAll(selector);

  // The name of a button must contain the text that is seen on it.
  for (const button of all("button[aria-label]")) {
    const text = button.textContent.trim().replace(/\s+/g, " ");
    if (text && !button.ariaLabel.includes(text)) button.ariaLabel = `${text} (${button.ariaLabel})`;
  }
  for (const summary of all("summary[aria-label]")) summary.removeAttribute("aria-label");
  for (const icon of all("button > i")) icon.removeAttribute("title"); // its button has a name
  for (const logo of all(".bd-sidebar-primary .navbar-brand")) {
    logo.parentElement.role = "navigation"; // the theme leaves it outside every landmark
    logo.parentElement.ariaLabel = "Home";
  }
  for (const entry of all(".citation-list > .citation")) entry.role = "listitem";
  // Boxes that scroll sideways must be reachable with the keyboard.
  for (const box of all(".highlight pre, .pst-scrollable-table-container, .course-figure"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;

  if (!document.querySelector('script[type="application/vnd.jupyter.widget-view+json"]')) return;
  const nameSliders = () => {
    for (const handle of all('[role="slider"]:not([aria-label])')) {
      const label = handle.closest(".jupyter-widgets")?.querySelector(".widget-label");
      handle.ariaLabel = label?.textContent.trim() || "value";
    }
  };
  new MutationObserver(nameSliders).observe(document.body, { childList: true, subtree: true });
});
