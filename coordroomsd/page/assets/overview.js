// Rooms at a glance.

export function showOverview(main, { api }) {
  document.title = "Rooms";
  const list = document.createElement("ul");
  main.replaceChildren(list);
  const cards = new Map();
  const stream = api.overview(() => ({}), {
    card(card) {
      const { id, slug, kind } = card.room;
      const item = cards.get(id) ?? document.createElement("li");
      const link = document.createElement("a");
      link.href = kind === "room" ? `/page/rooms/${encodeURIComponent(slug)}` : `/page/conversations/${id}`;
      link.textContent = slug ?? id;
      item.replaceChildren(link);
      if (!cards.has(id)) list.append(item);
      cards.set(id, item);
    },
  });
  return stream;
}
