// What makes the documentation quicker to use. Every page can be read and reached without it.

const find = (selector, within = document) => within.querySelector(selector);
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (name, properties = {}, attributes = {}) => {
  const element = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};
const announcement = find("#announcement");

// The menu of small screens

const menuButton = find(".menu");
menuButton.hidden = false;
menuButton.addEventListener("click", () => {
  const isOpen = find("#menu").classList.toggle("open");
  menuButton.setAttribute("aria-expanded", isOpen);
  if (isOpen) scrollTo(0, 0);
});
const here = find("#menu [aria-current=page]");
if (here) {
  const list = find("#menu");
  list.scrollTop =
    here.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
}

// Code: buttons to copy it, and one block at a time where the same is said in several languages

for (const figure of findAll("figure.code")) {
  const button = make("button", { type: "button", className: "plain copy", textContent: "Copy" });
  button.setAttribute("aria-label", `Copy ${figure.dataset.language || "code"}`);
  button.addEventListener("click", async () => {
    const code = find("code", figure);
    try {
      await navigator.clipboard.writeText(code.textContent);
      announcement.textContent = "Copied.";
      button.textContent = "Copied";
    } catch {
      // Browsers allow the clipboard on secure pages only. Elsewhere the text is selected, for the user to copy.
      getSelection().selectAllChildren(code);
      announcement.textContent = "Selected. Press the keys that copy.";
    }
    setTimeout(() => {
      button.textContent = "Copy";
      announcement.textContent = "";
    }, 3000);
  });
  figure.append(button);
}

const programLanguages = ["Shell", "TypeScript", "Python", "PHP"];
const isProgram = (element) =>
  element?.matches("figure.code") && programLanguages.includes(element.dataset.language);
const chosenKey = "documentation:language";
const groups = [];

for (const first of findAll(".prose > figure.code")) {
  if (!isProgram(first) || isProgram(first.previousElementSibling)) continue;
  const figures = [];
  for (let next = first; isProgram(next); next = next.nextElementSibling) figures.push(next);
  if (figures.length > 1) groups.push(tabsOf(figures));
}

function tabsOf(figures) {
  const id = `tabs-${groups.length}`;
  const list = make("div", {}, { role: "tablist", "aria-label": "Language" });
  const group = make("div", { className: "tabs" });
  figures[0].before(group);
  const panels = figures.map((figure, index) => {
    const panel = make("div", { id: `${id}-${index}` }, { role: "tabpanel" });
    panel.dataset.language = figure.dataset.language;
    panel.append(figure);
    return panel;
  });
  const tabs = panels.map((panel, index) => {
    const tab = make(
      "button",
      { type: "button", id: `${id}-tab-${index}`, textContent: panel.dataset.language },
      { role: "tab" },
    );
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => {
      localStorage.setItem(chosenKey, tab.textContent);
      chooseLanguage(tab.textContent);
    });
    return tab;
  });
  list.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.click();
    next.focus();
  });
  list.append(...tabs);
  group.append(list, ...panels);
  return { tabs, panels };
}

function chooseLanguage(language) {
  for (const { tabs, panels } of groups) {
    const wanted = tabs.findIndex(({ textContent }) => textContent === language);
    for (const [index, tab] of tabs.entries()) {
      const isChosen = index === Math.max(wanted, 0);
      tab.setAttribute("aria-selected", isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
      panels[index].hidden = !isChosen;
    }
  }
}
chooseLanguage(localStorage.getItem(chosenKey));

// Which part of a long page is read

const links = new Map(findAll(".on-page a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
if (links.size > 0) {
  const targets = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  const mark = () => {
    const passed = targets.filter((target) => target.getBoundingClientRect().top < 120);
    const present = links.get((passed.at(-1) ?? targets[0])?.id);
    for (const link of links.values()) link.classList.toggle("here", link === present);
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

// The search

const form = find(".search");
const input = find("#search");
const found = find("#found");
const maxShown = 12;
let index = null;
form.hidden = false;

async function readIndex() {
  index ??= fetch(document.body.dataset.search).then((answer) => answer.json());
  return index;
}

/** How well an entry fits: the lower, the better; null when it doesn't. */
function rankOf([title, kind], words) {
  const name = title.toLowerCase();
  let rank = 0;
  for (const word of words) {
    const at = name.indexOf(word);
    if (at === -1) return null;
    const last = name.slice(name.lastIndexOf(".") + 1);
    const isStart = at === 0 || /[.\s_]/.test(name[at - 1]) || title[at] !== name[at];
    rank += name === word || last === word ? 0 : isStart ? 1 : 2;
  }
  const weight =
    { Field: 1, Value: 1, Input: 0.7, List: 0.9, Filter: 0.9, Payload: 0.8, Error: 0.2 }[kind] ?? 0;
  return rank * 2 + weight + title.length / 100;
}

function search(entries, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, maxShown)
    .map(({ entry }) => entry);
}

const options = () => findAll("a", found);
function select(position) {
  for (const [number, option] of options().entries()) {
    option.setAttribute("aria-selected", number === position);
    if (number === position) {
      option.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option.id);
    }
  }
  if (options().length === 0) input.removeAttribute("aria-activedescendant");
}

function show(entries, text) {
  const isOpen = text.trim() !== "";
  found.hidden = !isOpen;
  input.setAttribute("aria-expanded", isOpen && entries.length > 0);
  found.replaceChildren(
    ...entries.map(([title, kind, path, about], number) => {
      const option = make(
        "a",
        { href: `${document.body.dataset.home}/${path}`, id: `found-${number}`, tabIndex: -1 },
        { role: "option" },
      );
      option.append(
        make("strong", { textContent: title }),
        make("small", { textContent: about ? `${kind}: ${about}` : kind }),
      );
      return option;
    }),
  );
  if (isOpen && entries.length === 0)
    found.append(make("p", { textContent: "Nothing was found." }, { role: "option" }));
  select(0);
}

input.addEventListener("input", async () => {
  const text = input.value;
  const entries = await readIndex();
  if (text === input.value) show(search(entries, text), text);
});
input.addEventListener("focus", () => void readIndex());
input.addEventListener("keydown", (event) => {
  const all = options();
  const position = all.findIndex((option) => option.getAttribute("aria-selected") === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && all.length > 0) {
    event.preventDefault();
    select((position + step + all.length) % all.length);
  } else if (event.key === "Escape") {
    input.value = "";
    show([], "");
  }
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  options()
    .find((option) => option.getAttribute("aria-selected") === "true")
    ?.click();
});
found.addEventListener("click", () => show([], ""));
addEventListener("click", ({ target }) => {
  if (!form.contains(target)) show([], "");
});
addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, textarea, select");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  input.focus();
});
