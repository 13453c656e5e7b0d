// What somebody sees who is not signed in: what happened, and what to type.

/** `refused` is what the daemon said, null when it was not asked. */
export function showSignedOut(main, refused) {
  document.title = "Signed out";
  const heading = document.createElement("h1");
  heading.textContent = "Signed out";
  const happened = document.createElement("p");
  happened.textContent = refused?.detail ?? "This browser is not signed in.";
  const first = document.createElement("p");
  first.textContent = "In a terminal on the daemon’s computer, type:";
  const command = document.createElement("pre");
  command.tabIndex = 0;
  command.textContent = "coordrooms dashboard";
  const then = document.createElement("p");
  then.textContent =
    "It opens this page with a link that works once, within a minute. The first time, tell it who you are with: coordrooms me NAME";
  const section = document.createElement("section");
  section.className = "signed-out";
  section.append(heading, happened, first, command, then);
  main.replaceChildren(section);
  main.focus({ preventScroll: true });
}
