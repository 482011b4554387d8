// Elements that are styled alike: neighbours, or children of such, with the same tag and the same class and nothing
// else to tell them apart. One of them is asked for its style, which is dear; an element with any other attribute is
// asked itself. That a rule counts places, as :nth-child does, is left out of account: it is not done for cursors.
{
  const { dom } = eyes;
  const { tagOf, hasAttributes, getAttribute, getAttributeNames } = dom;
  const PLACED = new Set(["absolute", "fixed", "sticky"]);

  class Kin {
    constructor() {
      this.inner = null;
      this.isAsked = false;
      // Whether they show a pointer, and whether they are drawn in another place than the text around them.
      this.isPointed = false;
      this.isPlaced = false;
      this.last = null;
      this.lastFound = null;
    }

    // The kin of an element whose parent is of this one; null for one that is like no other.
    of(node, tag = tagOf(node)) {
      if (node === this.last) return this.lastFound;
      this.last = node;
      return (this.lastFound = this.find(node, tag));
    }

    find(node, tag) {
      if (!hasAttributes(node)) return this.get(tag);
      const name = getAttribute(node, "class");
      return name === null || getAttributeNames(node).length > 1 ? null : this.get(tag).get(name);
    }

    get(key) {
      const inner = this.inner || (this.inner = new Map());
      let found = inner.get(key);
      if (!found) inner.set(key, (found = new Kin()));
      return found;
    }

    ask(node) {
      if (this.isAsked) return this;
      this.isAsked = true;
      const style = getComputedStyle(node);
      this.isPointed = style.cursor === "pointer";
      this.isPlaced = PLACED.has(style.position);
      return this;
    }
  }
  eyes.Kin = Kin;
}
