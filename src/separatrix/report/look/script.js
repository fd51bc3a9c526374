"use strict";
(() => {
  const held = JSON.parse(document.getElementById("samples").textContent);
  const root = document.documentElement;

  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  const made = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const card = (sample) => {
    const figure = made("figure", "card");
    const pictures = made("div", "pictures");
    for (const [place, alternative] of sample.pictures) {
      const image = made("img");
      image.src = held.pictures[place];
      image.alt = alternative;
      pictures.append(image);
    }
    const caption = made("figcaption");
    const run = sample.run ? `${sample.run}, ` : "";
    caption.append(
      made("span", "classes", `${sample.own} → ${sample.rival}`), " ",
      made("span", "", sample.distance), " ",
      made("span", "quiet", `${run}sample ${sample.sample}, labelled ${sample.label}`),
    );
    figure.append(pictures, caption);
    return figure;
  };

  const lines = (samples) => {
    const scroll = made("div", "scroll"), table = made("table"), head = made("tr"), body = made("tbody");
    for (const name of ["sample", "answered", "class beyond", "distance", "labelled"]) {
      const cell = made("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    for (const sample of samples) {
      const row = made("tr"), name = made("th", "", `${sample.run} ${sample.sample}`.trim());
      name.scope = "row";
      row.append(name, made("td", "", sample.own), made("td", "", sample.rival),
        made("td", "number", sample.distance), made("td", "", sample.label));
      body.append(row);
    }
    table.append(made("thead"), body);
    table.firstChild.append(head);
    scroll.append(table);
    return scroll;
  };

  const fill = (place, bar) => {
    if (!bar.cards.length) place.replaceChildren(made("p", "quiet", "No samples."));
    else if (bar.cards[0].pictures.length) place.replaceChildren(...bar.cards.map(card));
    else place.replaceChildren(lines(bar.cards));
  };

  const attach = (figure, bars) => {
    const range = figure.querySelector(".range strong"), place = figure.querySelector(".cards");
    const drawings = [...figure.querySelectorAll("svg")].map((svg) =>
      [...svg.querySelectorAll("[data-bar]")].sort((a, b) => a.dataset.bar - b.dataset.bar));
    let pinned = Number(figure.dataset.open), open = pinned;

    const mark = () => {
      for (const drawing of drawings) drawing.forEach((bar, number) => {
        bar.classList.toggle("open", number === open);
        bar.setAttribute("aria-pressed", String(number === pinned));
        bar.setAttribute("tabindex", number === pinned ? "0" : "-1");
      });
    };
    const show = (number) => {
      if (number !== open) {
        open = number;
        range.textContent = bars[number].label;
        fill(place, bars[number]);
      }
      mark();
    };
    const pin = (number) => { pinned = number; show(number); };
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -bars.length, End: bars.length };

    for (const drawing of drawings) drawing.forEach((bar, number) => {
      bar.addEventListener("mouseenter", () => show(number));
      bar.addEventListener("mouseleave", () => show(pinned));
      bar.addEventListener("click", () => pin(number));
      bar.addEventListener("keydown", (event) => {
        if (event.key in steps) {
          event.preventDefault();
          const next = Math.min(Math.max(number + steps[event.key], 0), bars.length - 1);
          pin(next);
          drawing[next].focus();
        } else if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          pin(number);
        }
      });
    });
    mark();
  };

  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.more")) details.open = true;
  });

  for (const [name, bars] of Object.entries(held.galleries)) {
    attach(document.getElementById(name), bars);
  }
  root.dataset.ready = "yes";
})();
