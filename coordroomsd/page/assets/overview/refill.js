/** New children for a node; a link in it that had the focus keeps it, if it is still there. */
export function refill(node, children) {
  const focused = node.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  node.replaceChildren(...children.filter((child) => child !== null && child !== ""));
  if (focused === null) return;
  for (const link of node.querySelectorAll("a")) {
    if (link.getAttribute("href") === focused) link.focus({ preventScroll: true });
  }
}
