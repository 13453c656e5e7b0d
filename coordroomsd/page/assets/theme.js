// Before anything is drawn: which of the two themes. Without a choice it is the system's.
(() => {
  const chosen = () => {
    try {
      return localStorage.getItem("coordrooms.theme");
    } catch {
      return null;
    }
  };
  const apply = () => {
    const theme = chosen();
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  apply();
  addEventListener("storage", apply);
})();
