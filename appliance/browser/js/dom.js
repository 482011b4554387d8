// Asks nodes what only the browser can answer: a form that is asked directly gives its own field of that name instead,
// as of <form><input name=parentNode>. Taken from the prototypes once, before any reading.
{
  const HTML = "http://www.w3.org/1999/xhtml";
  const of = (kind, name) => {
    const found = Object.getOwnPropertyDescriptor(kind.prototype, name);
    return found.get || found.value;
  };
  const namespace = of(Element, "namespaceURI");
  const isForm = (node) => {
    const tag = node.localName;
    return (tag === "form" || (typeof tag === "object" && tag !== null)) && namespace.call(node) === HTML;
  };
  const dom = {};
  const take = (kind, names) => {
    for (const name of names.split(" ")) {
      const own = of(kind, name);
      const isAsked = !!Object.getOwnPropertyDescriptor(kind.prototype, name).get;
      dom[name] = isAsked
        ? (node) => (isForm(node) ? own.call(node) : node[name])
        : (node, ...given) => (isForm(node) ? own.apply(node, given) : node[name](...given));
    }
  };
  take(Node, "parentNode childNodes isConnected ownerDocument getRootNode contains cloneNode");
  take(Element, "matches closest querySelector querySelectorAll getBoundingClientRect getClientRects scrollIntoView scrollBy " +
    "clientHeight clientWidth clientLeft clientTop scrollHeight scrollWidth scrollTop scrollLeft children childElementCount " +
    "previousElementSibling classList id className namespaceURI attributes assignedSlot outerHTML append");
  take(HTMLElement, "isContentEditable inert innerText style title");

  // Those that every node of a page is asked for are written out, as they are quicker so. Most are for elements only.
  const firstChild = of(Node, "firstChild"), nextSibling = of(Node, "nextSibling"), nodeType = of(Node, "nodeType");
  const textContent = of(Node, "textContent"), parentElement = of(Node, "parentElement");
  const localName = of(Element, "localName"), firstElementChild = of(Element, "firstElementChild");
  const shadowRoot = of(Element, "shadowRoot"), hasAttributes = of(Element, "hasAttributes");
  const hasAttribute = of(Element, "hasAttribute"), getAttribute = of(Element, "getAttribute");
  const getAttributeNames = of(Element, "getAttributeNames"), checkVisibility = of(Element, "checkVisibility");
  dom.firstChild = (node) => firstChild.call(node);
  dom.nextSibling = (node) => nextSibling.call(node);
  dom.nodeType = (node) => nodeType.call(node);
  dom.textContent = (node) => textContent.call(node);
  dom.parentElement = (node) => parentElement.call(node);
  // Of what is an element for sure.
  dom.tagOf = (node) => localName.call(node);
  dom.localName = (node) => (nodeType.call(node) === 1 ? localName.call(node) : undefined);
  dom.firstElementChild = (node) => firstElementChild.call(node);
  dom.shadowRoot = (node) => (nodeType.call(node) === 1 ? shadowRoot.call(node) : undefined);
  dom.labels = (node) => (isForm(node) ? null : node.labels);
  dom.hasAttributes = (node) => hasAttributes.call(node);
  dom.hasAttribute = (node, name) => hasAttribute.call(node, name);
  dom.getAttributeNames = (node) => getAttributeNames.call(node);
  dom.getAttribute = (node, name) => getAttribute.call(node, name);
  dom.checkVisibility = (node, how) => checkVisibility.call(node, how);
  eyes.dom = dom;
}
