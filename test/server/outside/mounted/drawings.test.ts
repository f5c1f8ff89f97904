/** Tests of pictures from mounted environments, which the server checks before it shows them. */
import { expect, test } from "vitest";
import { problemOfSvg } from "../../../../server/outside/mounted/check-pictures.ts";

const svg = (inside: string): string => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`;

test.each([
  svg('<text x="1">once = twice, onload=</text>'),
  `<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">\n${svg("<style>text { fill: red }</style>")}`,
  svg('<defs><path id="a"/></defs><use xlink:href="#a"/><rect fill="url(#g)"/>'),
  svg('<image href="data:image/png;base64,AAAA"/>'),
])("a plain picture is shown: %s", (picture) => {
  expect(problemOfSvg(picture)).toBeUndefined();
});

test.each([
  [svg("<script>1</script>"), /a script/],
  [svg("<svg:script>1</svg:script>"), /a script/],
  [svg('<rect onload="a()"/>'), /a script/],
  [svg('<rect x="1"onclick = "a()"/>'), /a script/],
  [svg('<a href="javascript:a()"/>'), /a script/],
  [svg("<foreignObject/>"), /another document/],
  [svg('<set attributeName="href"/>'), /an animation/],
  [svg('<image href="http://a.example/b.png"/>'), /a reference/],
  [svg("<image href=//a.example/b.png />"), /a reference/],
  [svg('<image href="data:image/svg+xml;base64,AAAA"/>'), /a reference/],
  [svg("<style>@import 'a.css';</style>"), /a reference/],
  [svg('<rect fill="url(http://a.example)"/>'), /a reference/],
  [`<!DOCTYPE svg [<!ENTITY a "b">]>${svg("")}`, /not a complete SVG/],
  ["<html></html>", /not a complete SVG/],
  [svg("x".repeat(1024 ** 2)), /the limit is 1048576/],
])("what runs or asks something is not: %#", (picture, words) => {
  expect(problemOfSvg(picture)).toMatch(words);
});
