/** The dirty beam beside a picture of the sky: what a single source would look like. */
import type { PlaneML } from '../../core/axes.js';
import { percent } from '../../core/units.js';
import { paintSky } from '../paint.js';
import type { Palette } from '../palettes.js';
import { rectangle, type Shape } from '../shapes.js';
import { GROUND, LINE, PAPER, text } from '../style.js';
import { MARGIN, WIDTH, type SkyPlan } from './view.js';

export interface DirtyBeam {
  /** plane : [m][l], 1 in the middle. */
  readonly plane: PlaneML;
  /** Of the sidelobes, over the peak. */
  readonly highest: number;
  readonly lowest: number;
}

const SIDE = 240;
/** What the panel adds to the width of a picture. */
export const BEAM_PANEL_WIDTH = SIDE + MARGIN;
const TOP = 134;

/** Linear, from the deepest value to the peak, on the scale of the sky's own pixels. */
export function beamPanel(
  { plane, highest, lowest }: DirtyBeam,
  { pixels }: Pick<SkyPlan, 'pixels'>,
  palette: Palette,
): Shape[] {
  const box = { left: WIDTH, top: TOP, right: WIDTH + SIDE, bottom: TOP + SIDE };
  const below = (words: string, line: number): Shape =>
    text('small', words, { x: box.left, y: box.bottom + 18 + 18 * line });
  return [
    text('panel', 'Dirty beam', { x: box.left, y: TOP - 12 }),
    {
      kind: 'raster',
      box,
      paint: (canvas, on) => {
        const zoom = (on.right - on.left) / pixels;
        paintSky(canvas, on, {
          plane,
          pixels,
          stretch: { low: Math.min(0, lowest), high: 1, exponent: 1 },
          palette,
          centre: { x: (on.left + on.right) / 2, y: (on.top + on.bottom) / 2 },
          zoom,
          depth: (x, y) => (on.right - on.left) / 2 - Math.max(Math.abs(x), Math.abs(y)),
          paper: PAPER,
          ground: GROUND,
        });
      },
    },
    { kind: 'line', points: rectangle(box), closed: true, width: 1, colour: LINE },
    below('what a single source looks like', 0),
    below(`sidelobes up to ${percent(highest)}`, 1),
    ...(lowest < 0 ? [below(`down to −${percent(-lowest)}`, 2)] : []),
  ];
}
