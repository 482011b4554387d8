// The parts of graphics that react by themselves, what pictures without words may be called, and closed shadow roots.
{
  const { squeeze, cut, dom } = eyes;
  const SVG = "http://www.w3.org/2000/svg";

  eyes.titleOf = (node) => squeeze([...dom.children(node)].find((child) => dom.localName(child) === "title")?.textContent || "");

  const MARKS = "a, [onclick], [role=button], [role=link], [role=menuitem], [role=option], [tabindex]:not([tabindex^='-'])";
  const MAX_PARTS = 300;
  // The outermost elements inside an SVG that a click does something to.
  eyes.partsOf = (svg) => {
    const parts = [];
    const own = getComputedStyle(svg).cursor;
    const walk = (parent) => {
      for (const child of dom.children(parent)) {
        if (parts.length >= MAX_PARTS) return;
        if (dom.namespaceURI(child) !== SVG || /^(defs|title|desc|style|script|symbol|clipPath|mask)$/.test(dom.localName(child))) continue;
        const reacts = dom.matches(child, MARKS) || eyes.reacts(child);
        if (reacts || (own !== "pointer" && getComputedStyle(child).cursor === "pointer")) {
          if (dom.checkVisibility(child, { visibilityProperty: true, opacityProperty: true })) parts.push(child);
        } else walk(child);
      }
    };
    walk(svg);
    return parts;
  };

  eyes.areasOf = (image) => {
    const name = image.useMap.replace(/^#/, "");
    const map = [...image.getRootNode().querySelectorAll("map")].find((one) => one.name === name || dom.id(one) === name);
    if (!map) return [];
    const areas = [...map.querySelectorAll("area")].filter((one) => one.href || one.onclick || eyes.reacts(one));
    for (const area of areas) imageOfArea.set(area, image);
    return areas;
  };
  const imageOfArea = new WeakMap();
  // Boxes in the viewport that lie inside an area: its middle, and places around it for shapes that are hollow there.
  eyes.boxesOf = (node) => {
    const image = imageOfArea.get(node);
    if (!image || dom.localName(node) !== "area") return [...dom.getClientRects(node)];
    const box = dom.getBoundingClientRect(image);
    const left = box.left + dom.clientLeft(image), top = box.top + dom.clientTop(image);
    if (node.shape === "default" || !node.coords) return [box];
    const at = node.coords.split(/[\s,]+/).map(Number);
    const spot = (x, y, radius) => new DOMRect(left + x - radius, top + y - radius, 2 * radius, 2 * radius);
    if (/^circ/.test(node.shape)) return [spot(at[0], at[1], at[2] * 0.7)];
    if (!/^poly/.test(node.shape)) return [new DOMRect(left + at[0], top + at[1], at[2] - at[0], at[3] - at[1])];
    const xs = at.filter((_, index) => index % 2 === 0), ys = at.filter((_, index) => index % 2);
    const middle = [xs.reduce((sum, x) => sum + x, 0) / xs.length, ys.reduce((sum, y) => sum + y, 0) / ys.length];
    const between = xs.map((x, index) => [(x + middle[0]) / 2, (ys[index] + middle[1]) / 2]);
    return [middle, ...between].map(([x, y]) => spot(x, y, 1));
  };

  const fileName = (address) => (address || "").split(/[?#]/)[0].split("/").pop().replace(/\.\w{2,5}$/, "");
  const ICON_WORD = /(?:^|[\s_-])(?:icon|ico|fa|bi|mdi|glyphicon|material-icons|lucide|ti|ri|pi)[_-]+([a-z][\w-]+)|(?:^|\s)([a-z][\w-]*)[_-]icon\b/i;
  // What an icon without words shows, by what its author called the picture; "" when nothing tells.
  eyes.iconOf = (node) => {
    const use = dom.querySelector(node, "use");
    const target = use && (dom.getAttribute(use, "href") || dom.getAttribute(use, "xlink:href") || "").split("#").pop();
    if (target) return cut(target, 40);
    const picture = dom.localName(node) === "img" || dom.localName(node) === "input" ? node : dom.querySelector(node, "img[src], source[srcset]");
    const address = picture && (dom.getAttribute(picture, "src") || dom.getAttribute(picture, "srcset") || "");
    if (address && !/^data:/.test(address)) return cut(fileName(address), 40);
    for (const one of [node, ...[...dom.querySelectorAll(node, "[class]")].slice(0, 8)]) {
      const found = ICON_WORD.exec(dom.getAttribute(one, "class") || "");
      if (found) return cut(found[1] || found[2], 40);
    }
    for (const one of [node, ...[...dom.children(node)].slice(0, 2)]) {
      for (const name of ["data-icon", "data-testid", "data-test", "data-action", "data-name"]) {
        if (dom.getAttribute(one, name)) return cut(squeeze(dom.getAttribute(one, name)), 40);
      }
      const image = getComputedStyle(one).backgroundImage;
      const url = /url\("?([^")]+)/.exec(image);
      if (url && !url[1].startsWith("data:")) return cut(fileName(url[1]), 40);
    }
    return "";
  };

  // ---- closed shadow roots ----
  // Scripts cannot see them, not even from this world, and a patched attachShadow is seen by the page. The protocol can
  // hand one over: elements that may have one are put on a list, of which the program asks the browser, once each.
  const closed = new WeakMap();
  const asked = new WeakSet();
  const MAX_SUSPECTS = 150;
  const MAX_ROOTS = 60;
  let suspects = [];
  let rootsRead = [];
  eyes.beginSuspecting = () => {
    suspects = [];
    rootsRead = [document];
  };
  eyes.rootOf = (node, tag = dom.localName(node)) => {
    const root = eyes.knownRoot(node);
    if (root && rootsRead.length < MAX_ROOTS) rootsRead.push(root);
    // Its own code may still be on the way; until then it is no more than its children.
    if (!root && tag.includes("-") && !asked.has(node) && dom.matches(node, ":defined")) put(node);
    return root;
  };
  let anyClosed = false;
  eyes.knownRoot = (node) => dom.shadowRoot(node) || (anyClosed && closed.get(node)) || null;
  const put = (node) => {
    if (suspects.length >= MAX_SUSPECTS) return;
    asked.add(node);
    suspects.push(node);
  };
  // An empty element that takes room, or one whose children are not drawn.
  eyes.suspect = (node) => {
    if (!node || asked.has(node) || dom.shadowRoot(node) || closed.has(node) || suspects.length >= MAX_SUSPECTS) return;
    if (dom.firstElementChild(node) === null && (dom.clientHeight(node) < 8 || dom.clientWidth(node) < 8)) return;
    put(node);
  };
  eyes.suspects = () => suspects;
  eyes.rootsRead = () => rootsRead;
  eyes.openRoots = (...roots) => {
    anyClosed = true;
    for (const root of roots) closed.set(root.host, root);
  };

  // ---- elements that react through listeners alone, as the browser told ----
  const reacting = new WeakSet();
  const DELEGATED = "[data-action], [data-click], [data-href], [data-url], [data-toggle], [data-target], [jsaction], [data-onclick]";
  const MAX_WORDS = 240;
  const isSmall = (node) => dom.textContent(node).length <= MAX_WORDS && !dom.querySelector(node, "a[href], button, input, select, textarea");
  const hasData = (node) => [...dom.attributes(node)].some(({ name }) => name.startsWith("data-"));
  let anyReacting = false;
  const KNOWN = "label, a[href], button, input, select, textarea, summary, option, area, [onclick], [role=button], [role=link]";
  const react = (node) => {
    // What is numbered anyway, or is a part of that, is left as it is.
    if (reacting.has(node) || dom.matches(node, "html, body") || dom.closest(node, KNOWN)) return 0;
    if (getComputedStyle(node).cursor === "pointer") return 0;
    reacting.add(node);
    anyReacting = true;
    return 1;
  };
  eyes.reacts = (node) => anyReacting && reacting.has(node);
  // Takes elements with listeners for clicks and returns how many are shown that were not known to react. One that holds
  // many things listens for them: those of its children are taken that carry what such listeners look for.
  eyes.takeListening = (...nodes) => {
    let count = 0;
    for (const node of nodes) {
      const isRoot = dom.nodeType(node) !== 1 || dom.matches(node, "html, body");
      for (const one of isRoot || !isSmall(node) ? dom.querySelectorAll(node, DELEGATED) : []) if (isSmall(one)) count += react(one);
      if (isRoot) continue;
      const children = [...dom.children(node)].filter((one) => isSmall(one) && hasData(one));
      if (children.length > 1 || !isSmall(node)) for (const one of children) count += react(one);
      else count += react(node);
    }
    return count;
  };
}
