/**
 * Compares views with kept pictures, coarsely, so that other fonts or a longer wait of a run make no difference. A
 * missing panel, an empty chart or another background does.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";

/** Folder of the kept pictures; UPDATE_PICTURES=1 takes them anew. */
const KEPT = join(import.meta.dirname, "../../docs/pictures");
/** Folder for a view's picture that differs from the kept one. */
const TAKEN = join(import.meta.dirname, "../../out/pictures");

/** Side of a compared cell in pixels, about the size of a word. */
const CELL_PX = 16;
/** Least difference, of 255, at which a cell's colour counts as another. */
const DIFFERENT = 12;
/** Largest share of the cells that may differ. */
export const SHARE_MAX = 0.05;

export const keptFile = (name: string): string => join(KEPT, `page-${name}.webp`);

/** WebP's quality, 0 to 1. Text is legible, and the pictures of all views take 0.35 MB. */
const QUALITY = 0.2;

/** Returns a PNG as WebP; Chromium encodes it. */
export async function webpOf(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  try {
    const base64 = await page.evaluate<string>(`(async () => {
      const image = new Image();
      image.src = "data:image/png;base64,${png.toString("base64")}";
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext("2d").drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", ${QUALITY}).split(",")[1];
    })()`);
    return Buffer.from(base64, "base64");
  } finally {
    await page.close();
  }
}

/** The share of the cells in which two pictures differ, from 0 to 1; of another size: 1. Chromium decodes them. */
export async function differenceOf(browser: Browser, one: Buffer, other: Buffer): Promise<number> {
  // The new page has no content security policy, which would refuse data addresses.
  const page = await browser.newPage();
  const urls = [one, other].map((picture) => `data:image/png;base64,${picture.toString("base64")}`);
  try {
    return await page.evaluate<number>(`(async () => {
      const pictures = await Promise.all(${JSON.stringify(urls)}.map(async (url) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        return image;
      }));
      const [{ width, height }, second] = pictures;
      if (second.width !== width || second.height !== height) return 1;
      const [columns, rows] = [Math.ceil(width / ${CELL_PX}), Math.ceil(height / ${CELL_PX})];
      const [left, right] = pictures.map((image) => {
        const context = new OffscreenCanvas(width, height).getContext("2d");
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, width, height);
        const sums = new Float64Array(columns * rows * 4);
        for (let at = 0; at < data.length; at += 4) {
          const pixel = at / 4;
          const column = Math.floor((pixel % width) / ${CELL_PX});
          const cell = 4 * (Math.floor(pixel / width / ${CELL_PX}) * columns + column);
          for (let colour = 0; colour < 3; colour++) sums[cell + colour] += data[at + colour];
          sums[cell + 3]++;
        }
        return sums;
      });
      let others = 0;
      for (let cell = 0; cell < left.length; cell += 4) {
        const isOther = [0, 1, 2].some((colour) =>
          Math.abs(left[cell + colour] / left[cell + 3] - right[cell + colour] / right[cell + 3]) > ${DIFFERENT});
        if (isOther) others++;
      }
      return others / (columns * rows);
    })()`);
  } finally {
    await page.close();
  }
}

/** Keeps a picture where pictures are taken anew, else holds it against the one that is kept. */
export async function expectKept(browser: Browser, name: string, taken: Buffer): Promise<void> {
  if (process.env["UPDATE_PICTURES"] === "1") return writeFileSync(keptFile(name), await webpOf(browser, taken));
  const share = await differenceOf(browser, taken, readFileSync(keptFile(name)));
  if (share <= SHARE_MAX) return;
  mkdirSync(TAKEN, { recursive: true });
  const file = join(TAKEN, `page-${name}.png`);
  writeFileSync(file, taken);
  throw new Error(
    `the view differs from docs/pictures/page-${name}.webp in ${Math.round(100 * share)}% of its area: look at ${file}, ` +
      `and if it is as it should be, renew the pictures with UPDATE_PICTURES=1 make test-browser`,
  );
}
