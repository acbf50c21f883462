// Extras for browsers with scripts: copying, setting all levels at once. No page depends on it.

const announcement = document.getElementById("announcement");

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
      announcement.textContent = `${button.getAttribute("aria-label").replace("Copy: ", "")} copied.`;
    } catch {
      // Browsers allow the clipboard on secure pages only. Elsewhere the text is selected, for the user to copy.
      getSelection().selectAllChildren(source);
      announcement.textContent = "Selected. Press the keys that copy.";
    }
    setTimeout(() => (button.textContent = "Copy"), 3000);
  });
}

for (const group of document.querySelectorAll("[data-all]")) {
  group.hidden = false;
  for (const button of group.querySelectorAll("[data-level]")) {
    button.addEventListener("click", () => {
      const { level } = button.dataset;
      for (const resource of group.closest("form").querySelectorAll("fieldset.resource")) {
        // Not everything can be written
        const choice = (value) => resource.querySelector(`input[value="${value}"]`);
        (choice(level) ?? choice("read")).checked = true;
      }
      announcement.textContent = `All set to ${button.textContent.trim()}.`;
    });
  }
}

document.querySelector("[data-focus]")?.focus();

// The explorer finds its credentials in the storage of the tab; no address has them.
const wayOn = document.querySelector("[data-way-on]");
if (wayOn) {
  const { key, value } = wayOn.dataset;
  sessionStorage.setItem(key, value);
  location.replace(wayOn.dataset.wayOn);
}
