/** Pictures are composed as SVG and turned into PNG here, with fonts of our own so that every machine draws alike. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';

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

export async function renderPng(svg: string, options: { readonly width?: number } = {}): Promise<Uint8Array> {
  tools ??= loadTools();
  const { fonts } = await tools;
  const drawing = new Resvg(svg, {
    font: { fontBuffers: [...fonts], defaultFontFamily: FONT_FAMILY, loadSystemFonts: false },
    ...(options.width === undefined ? {} : { fitTo: { mode: 'width', value: options.width } }),
  });
  try {
    const picture = drawing.render();
    try {
      return picture.asPng();
    } finally {
      picture.free();
    }
  } finally {
    drawing.free();
  }
}

/** For text inside SVG. */
export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
