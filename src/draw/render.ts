/** Pictures are composed as SVG and turned into PNG here, with fonts of our own so that every machine draws alike. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { encodePng, type Canvas } from './png.js';

const packaged = createRequire(import.meta.url);
export const FONT_FAMILY = 'DejaVu Sans';

interface Tools {
  readonly fonts: readonly Uint8Array[];
}

let tools: Promise<Tools> | undefined;

/** Once a process: the module may be initialised only once, and fonts are a megabyte. */
async function loadTools(): Promise<Tools> {
  const [wasm, ...fonts] = await Promise.all(
    [
      '@resvg/resvg-wasm/index_bg.wasm',
      'dejavu-fonts-ttf/ttf/DejaVuSans.ttf',
      'dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf',
    ].map((name) => readFile(packaged.resolve(name))),
  );
  await initWasm(wasm);
  return { fonts };
}

export interface RenderOptions {
  readonly width?: number;
  /**
   * Paints what lies under the drawing, every pixel of it. Large rasters belong here: inside the SVG they cost a
   * second.
   */
  readonly under?: (canvas: Canvas) => void;
}

export async function renderPng(svg: string, options: RenderOptions = {}): Promise<Uint8Array> {
  tools ??= loadTools();
  const { fonts } = await tools;
  const drawing = new Resvg(svg, {
    font: { fontBuffers: [...fonts], defaultFontFamily: FONT_FAMILY, loadSystemFonts: false },
    ...(options.width === undefined ? {} : { fitTo: { mode: 'width', value: options.width } }),
  });
  try {
    const picture = drawing.render();
    try {
      if (!options.under) return picture.asPng();
      const { width, height, pixels } = picture;
      const canvas = { width, height, rgb: new Uint8Array(3 * width * height) };
      options.under(canvas);
      layOver(canvas.rgb, pixels);
      return await encodePng(canvas);
    } finally {
      picture.free();
    }
  } finally {
    drawing.free();
  }
}

/** over : [y][x][red, green, blue, alpha], colours already times alpha */
function layOver(rgb: Uint8Array, over: Uint8Array): void {
  for (let from = 0, to = 0; from < over.length; from += 4, to += 3) {
    const alpha = over[from + 3];
    if (alpha === 0) continue;
    const left = (255 - alpha) / 255;
    rgb[to] = over[from] + Math.round(rgb[to] * left);
    rgb[to + 1] = over[from + 1] + Math.round(rgb[to + 1] * left);
    rgb[to + 2] = over[from + 2] + Math.round(rgb[to + 2] * left);
  }
}

/** For text inside SVG. */
export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
