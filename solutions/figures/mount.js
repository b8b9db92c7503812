// Draw a figure in every place that waits for it, with the part of anywidget's model it may use.
function mount(render, name, data) {
  const waiting = `.course-figure[data-figure="${name}"]:not([data-drawn])`;
  for (const figure of document.querySelectorAll(waiting)) {
    const values = { data: structuredClone(data) };
    const listeners = new EventTarget();
    const model = {
      get: (key) => values[key],
      set: (key, value) => {
        values[key] = value;
        listeners.dispatchEvent(new Event("change:" + key));
      },
      save_changes: () => {},
      on: (event, listener) => listeners.addEventListener(event, listener),
      off: (event, listener) => listeners.removeEventListener(event, listener),
    };
    render({ model, el: figure.querySelector(".live") });
    figure.dataset.drawn = ""; // last: a script that fails leaves the still picture on the page
  }
}
