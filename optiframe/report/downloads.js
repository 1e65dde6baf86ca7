"use strict";
// Saves the drawings of a page as SVG and PNG, as they look on paper: dark on white.
const saveAs = (name, href) => {
  const link = document.createElement("a");
  link.download = name;
  link.href = href;
  link.click();
};
const saveText = (name, kind, text) => {
  const place = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
  saveAs(name, place);
  setTimeout(() => URL.revokeObjectURL(place), 10000);
};
for (const button of document.querySelectorAll("figure.drawing .downloads button")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure");
    const copy = figure.querySelector("svg").cloneNode(true);
    const [, , width, height] = copy.getAttribute("viewBox").split(" ").map(Number);
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of [["width", width], ["height", height], ["fill", "#ffffff"]]) paper.setAttribute(name, value);
    copy.prepend(paper);
    const text = new XMLSerializer().serializeToString(copy);
    if (button.dataset.kind === "svg") return saveText(`${figure.dataset.name}.svg`, "image/svg+xml", text);
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [3 * width, 3 * height];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      saveAs(`${figure.dataset.name}.png`, canvas.toDataURL("image/png"));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    return undefined;
  });
}
