// What kinds of elements there are, by their names: how a reading takes each.
{
  const [SKIP, BLOCK, CONTROL, FRAME, GRAPHIC, IMAGE, BREAK] = [1, 2, 3, 4, 5, 6, 7];
  const [CELL, HEADING, ITEM, LABEL, SLOT, MEDIA, RULE] = [8, 9, 10, 11, 12, 13, 14];
  const KINDS = Object.assign(Object.create(null), {
    a: CONTROL, button: CONTROL, input: CONTROL, select: CONTROL, textarea: CONTROL, summary: CONTROL,
    iframe: FRAME, frame: FRAME, svg: GRAPHIC, canvas: IMAGE, img: IMAGE, br: BREAK, td: CELL, th: CELL, li: ITEM,
    h1: HEADING, h2: HEADING, h3: HEADING, h4: HEADING, h5: HEADING, h6: HEADING,
    label: LABEL, slot: SLOT, video: MEDIA, audio: MEDIA, hr: RULE,
  });
  for (const tag of "script style noscript template head meta link title base param source track datalist area map colgroup object embed".split(" ")) KINDS[tag] = SKIP;
  for (const tag of "div p section article main header footer nav aside form fieldset legend table tbody thead tfoot tr caption ul ol dl dt dd menu pre blockquote address figure figcaption details dialog hgroup search optgroup option body frameset center".split(" ")) KINDS[tag] = BLOCK;

  const ROLES = new Set("button link menuitem menuitemcheckbox menuitemradio option radio checkbox tab switch textbox combobox searchbox slider spinbutton treeitem".split(" "));
  // Formatting inside a text: without attributes of its own it is as visible as the text, and no control.
  const FORMATTING = new Set("b i em strong u s small sub sup code mark wbr cite q var kbd".split(" "));
  const CAN_HOST = new Set("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split(" "));
  const INDENTED = new Set("form nav dialog fieldset ul ol table details aside".split(" "));
  const KIND = { BLOCK, CONTROL, FRAME, GRAPHIC, IMAGE, BREAK, CELL, HEADING, ITEM, LABEL, SLOT, MEDIA, RULE, SKIP };
  Object.assign(eyes, { KIND, KINDS, ROLES, FORMATTING, CAN_HOST, INDENTED });
}
