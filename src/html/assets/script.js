// Makes pages quicker to use. Every page works without it.

const find = (selector, within = document) => within.querySelector(selector);
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (name, properties = {}, attributes = {}) => {
  const element = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};
const announce = (text) => (find("#announcement").textContent = text);

// The menu on small screens

const menuButton = find(".menu");
if (menuButton) {
  const menu = find("#menu");
  menuButton.hidden = false;
  menuButton.addEventListener("click", () => {
    const isOpen = menu.classList.toggle("open");
    menuButton.setAttribute("aria-expanded", isOpen);
    if (isOpen) scrollTo(0, 0);
  });
  const here = find("[aria-current=page]", menu);
  if (here) menu.scrollTop = here.offsetTop - menu.offsetTop - menu.clientHeight / 3;
}

// Copy buttons

function copies(button, source, title, done) {
  button.setAttribute("aria-label", title);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      announce(done);
      button.textContent = "Copied";
    } catch {
      // Browsers allow the clipboard on secure pages only. Elsewhere, select the text for the user to copy.
      getSelection().selectAllChildren(source);
      announce("Selected. Press the keys for copying.");
    }
    setTimeout(() => {
      button.textContent = "Copy";
      announce("");
    }, 3000);
  });
}

for (const button of findAll("[data-copy]")) {
  const { copy, title } = button.dataset;
  copies(button, find(`#${copy}`), `Copy: ${title}`, `${title} copied.`);
}
for (const figure of findAll("figure.code")) {
  const button = make("button", { type: "button", className: "plain copy", textContent: "Copy" });
  copies(button, find("code", figure), `Copy ${figure.dataset.language || "code"}`, "Copied.");
  find("pre", figure).before(button);
}

// The same program in several languages: tabs show one at a time
const programLanguages = ["Shell", "TypeScript", "Python", "PHP"];
const isProgram = (element) => programLanguages.includes(element?.dataset.language);
const chosenKey = "documentation:language";
const groups = findAll(".prose > figure.code")
  .filter((figure) => isProgram(figure) && !isProgram(figure.previousElementSibling))
  .filter(({ nextElementSibling: next }) => isProgram(next))
  .map(tabsOf);

function tabsOf(first, number) {
  const list = make("div", {}, { role: "tablist", "aria-label": "Language" });
  const group = make("div", { className: "tabs" });
  first.before(group);
  group.append(list);
  const tabs = [];
  for (let figure = group.nextElementSibling; isProgram(figure); figure = group.nextElementSibling) {
    const { language } = figure.dataset;
    const id = `tabs-${number}-${language}`;
    const tab = make("button", { type: "button", id: `${id}-tab`, textContent: language }, { role: "tab" });
    const panel = make("div", { id }, { role: "tabpanel", "aria-labelledby": tab.id });
    tab.setAttribute("aria-controls", id);
    tab.addEventListener("click", () => {
      localStorage.setItem(chosenKey, language);
      chooseLanguage(language);
    });
    panel.append(figure);
    list.append(tab);
    group.append(panel);
    tabs.push({ tab, panel });
  }
  list.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const present = tabs.findIndex(({ tab }) => tab === document.activeElement);
    const { tab } = tabs[(present + step + tabs.length) % tabs.length];
    tab.click();
    tab.focus();
  });
  return tabs;
}

function chooseLanguage(language) {
  for (const tabs of groups) {
    const chosen = tabs.find(({ tab }) => tab.textContent === language) ?? tabs[0];
    for (const each of tabs) {
      each.tab.setAttribute("aria-selected", each === chosen);
      each.tab.tabIndex = each === chosen ? 0 : -1;
      each.panel.hidden = each !== chosen;
    }
  }
}
chooseLanguage(localStorage.getItem(chosenKey));

// Marks the part of a long page that is being read

const links = findAll(".on-page a").map((link) => ({
  link,
  target: document.getElementById(decodeURIComponent(link.hash.slice(1))),
}));
if (links.length > 0) {
  const mark = () => {
    const present =
      links.findLast(({ target }) => target?.getBoundingClientRect().top < 120)?.link ?? links[0].link;
    for (const { link } of links) link.classList.toggle("here", link === present);
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

// Forms: buttons that set the same level for all resources

for (const button of findAll("[data-level]")) {
  button.parentElement.hidden = false;
  button.addEventListener("click", () => {
    for (const resource of findAll(".resource", button.form)) {
      // Some resources can't be written
      const choice = (value) => find(`input[value="${value}"]`, resource);
      (choice(button.dataset.level) ?? choice("read")).checked = true;
    }
    announce(`All set to ${button.textContent.trim()}.`);
  });
}

// Stores the client ID and secret for the explorer in the tab's storage, so that no URL contains them.
const redirect = find("[data-redirect]");
if (redirect) {
  const { key, value } = redirect.dataset;
  sessionStorage.setItem(key, value);
  location.replace(redirect.dataset.redirect);
}

// The search
const maxShown = 12;
const form = find(".search");
if (form) openSearch(find("input", form), find("#found"));

function openSearch(input, found) {
  let index = null;
  /** Loads the index and the two search modules. */
  const readIndex = () => (index ??= loadIndex(form.dataset));
  const options = () => findAll("a", found);
  const isSelected = (option) => option.getAttribute("aria-selected") === "true";

  function select(position) {
    input.removeAttribute("aria-activedescendant");
    for (const [number, option] of options().entries()) {
      option.setAttribute("aria-selected", number === position);
      if (number !== position) continue;
      option.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option.id);
    }
  }

  function show(entries, text) {
    found.hidden = text.trim() === "";
    input.setAttribute("aria-expanded", entries.length > 0);
    found.replaceChildren(
      ...entries.map(([title, kind, path, about], number) => {
        const href = `${form.dataset.home}/${path}`;
        const option = make("a", { href, id: `found-${number}`, tabIndex: -1 }, { role: "option" });
        option.append(
          make("strong", { textContent: title }),
          make("small", { textContent: about ? `${kind}: ${about}` : kind }),
        );
        return option;
      }),
    );
    if (entries.length === 0)
      found.append(make("p", { textContent: "Nothing was found." }, { role: "option" }));
    select(0);
  }
  const close = () => show([], "");

  form.hidden = false;
  input.addEventListener("focus", readIndex);
  input.addEventListener("input", async () => {
    const text = input.value;
    const entriesFor = await readIndex();
    if (text === input.value) show(entriesFor(text).slice(0, maxShown), text);
  });
  input.addEventListener("keydown", (event) => {
    const all = options();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && all.length > 0) {
      event.preventDefault();
      select((all.findIndex(isSelected) + step + all.length) % all.length);
    } else if (event.key === "Escape") {
      input.value = "";
      close();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    options().find(isSelected)?.click();
  });
  found.addEventListener("click", close);
  addEventListener("click", ({ target }) => form.contains(target) || close());
  addEventListener("keydown", (event) => {
    const isTyping = event.target.matches?.("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    input.focus();
  });
}

async function loadIndex({ search, engine, library }) {
  const module = (address) => import(new URL(address, document.baseURI).href);
  const [data, { openIndex }, { default: MiniSearch }] = await Promise.all([
    fetch(search).then((response) => response.json()),
    module(engine),
    module(library),
  ]);
  return openIndex(MiniSearch, data);
}
