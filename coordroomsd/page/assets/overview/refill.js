/** New children for a node; a link or button in it that had the focus keeps it, if it is still there. */
export function refill(node, children) {
  const focused = node.contains(document.activeElement) ? mark(document.activeElement) : "";
  node.replaceChildren(...children.filter((child) => child !== null && child !== ""));
  if (!focused) return;
  for (const control of node.querySelectorAll("a, button")) {
    if (mark(control) === focused) control.focus({ preventScroll: true });
  }
}

/** What stays the same about a control when it is made anew. */
function mark(control) {
  return control.id || control.getAttribute("href") || "";
}
