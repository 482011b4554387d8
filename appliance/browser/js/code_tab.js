// Shows a script and what came of it in a tab of ours, as text only; the end of what grows stays in view.
(name, code, state, output) => {
  const root = document.documentElement;
  if (!root.dataset.code) {
    root.dataset.code = "yes";
    const style = document.createElement("style");
    style.textContent = `
      html { background: #10151c; color: #d7dee8; font: 15px/1.5 "DejaVu Sans Mono", "Liberation Mono", monospace; }
      body { margin: 0; height: 100vh; display: grid; grid-template-rows: auto 1fr auto; }
      header { display: flex; gap: 1rem; padding: .6rem 1rem; background: #1b2430; }
      header span { color: #8fa3bb; }
      pre { margin: 0; padding: 1rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
      pre.output { max-height: 40vh; border-top: 1px solid #34455a; background: #0b0f14; }
      pre.output:empty { display: none; }`;
    document.head.append(style);
    const header = document.createElement("header");
    header.append(document.createElement("b"), document.createElement("span"));
    const output = document.createElement("pre");
    output.className = "output";
    document.body.replaceChildren(header, document.createElement("pre"), output);
  }
  document.title = name;
  const [header, script, result] = document.body.children;
  header.children[0].textContent = name;
  header.children[1].textContent = state;
  script.textContent = code;
  result.textContent = output;
  script.scrollTop = script.scrollHeight;
  result.scrollTop = result.scrollHeight;
}
