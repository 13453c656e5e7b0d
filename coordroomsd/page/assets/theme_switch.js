// The button that goes round the themes: the system's, light, dark.

const KEY = "coordrooms.theme";
const NEXT = { system: "light", light: "dark", dark: "system" };
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

export function bindThemeSwitch(button) {
  const show = () => {
    const now = document.documentElement.dataset.theme ?? "system";
    button.textContent = SIGNS[now];
    button.title = `Theme: ${now}`;
    button.setAttribute("aria-label", `Theme: ${now}. Switch to ${NEXT[now]}`);
  };
  button.addEventListener("click", () => {
    const next = NEXT[document.documentElement.dataset.theme ?? "system"];
    if (next === "system") {
      localStorage.removeItem(KEY);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(KEY, next);
      document.documentElement.dataset.theme = next;
    }
    show();
  });
  addEventListener("storage", show);
  show();
}
