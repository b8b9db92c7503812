// Lets ipywidgets and anywidget work in the book with no kernel and no network.
// Loaded after require.js and before embed-amd.js, only on pages that hold a widget.
(() => {
  const here = new URL(".", document.currentScript.src).href;
  requirejs.config({
    paths: {
      anywidget: here + "vendor/anywidget",
      "@jupyter-widgets/html-manager/dist": here + "vendor", // where its icon font is looked for
    },
  });
  window.__jupyter_widgets_assets_path__ = here + "vendor/"; // the same, for browsers other than Chromium

  // The widgets typeset their labels with MathJax 2's Hub; the book has MathJax 3, which replaces
  // window.MathJax while it starts: give whatever stands there a Hub.
  const Hub = {
    Queue: ([, , element]) => {
      if (element && window.MathJax.typesetPromise) window.MathJax.typesetPromise([element]);
    },
  };
  const withHub = (value) => Object.defineProperty(value, "Hub", { value: Hub, configurable: true });
  let mathjax = withHub(window.MathJax || {});
  Object.defineProperty(window, "MathJax", {
    get: () => mathjax,
    set: (value) => (mathjax = withHub(value)),
  });
})();
