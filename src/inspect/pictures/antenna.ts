/** Picture of the station positions of a telescope. */
import { withMinus } from '../../core/units.js';
import {
  drawMap,
  pictureOf,
  text,
  ticks,
  WARNING,
  type MapPoint,
  type PanelAxis,
  type Picture,
  type Shape,
} from '../../draw/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { heading, listed, longestDistance, PICTURE_WIDTH, TITLE_HEIGHT } from './parts.js';

const fixed = (value: number, decimals: number): string => withMinus(value.toFixed(decimals));

const SIDE = 560;
const TOP = TITLE_HEIGHT + 26;

/** All stations, and a second panel of the dense centre if a few are far out. `flagged`: stations that are left out. */
export function antennaPicture(
  telescope: Telescope,
  title: string,
  flagged: readonly number[] = [],
): Picture {
  const { stations, site } = telescope;
  const points = stations.map(({ name, eastM, northM }, s): MapPoint => ({
    name,
    x: eastM,
    y: northM,
    ...(flagged.includes(s) && { colour: WARNING }),
  }));
  const all = squareRound(points);
  const core = squareRound(inner(points));
  const isCrowded = core.half < all.half / 2;
  const heights = stations.map(({ upM }) => upM);
  const [lowest, highest] = [Math.min(...heights), Math.max(...heights)];
  const caption = `${telescope.title}: ${stations.length} stations, ${longestDistance(points).toFixed(1)} m apart at most, heights from ${fixed(lowest, 1)} to ${fixed(highest, 1)} m; latitude ${fixed(site.latitudeDeg, 4)}°, longitude ${fixed(site.longitudeDeg, 4)}°`;
  const panels: readonly (readonly [string, Square])[] = isCrowded
    ? [
        ['All stations', all],
        ['The inner ones', core],
      ]
    : [['All stations', all]];
  const shapes = panels.flatMap(([words, square], k): Shape[] =>
    drawMap(
      {
        title: words,
        x: axisOf('east (m)', square.x, square.half),
        y: axisOf('north (m)', square.y, square.half),
        points,
      },
      isCrowded
        ? { left: 100 + k * 680, top: TOP, width: SIDE, height: SIDE }
        : { left: 250, top: TOP, width: 900, height: 900 },
    ),
  );
  const bottom = TOP + (isCrowded ? SIDE : 900) + 60;
  const names = flagged.map((s) => stations[s].name);
  return pictureOf({ width: PICTURE_WIDTH, height: bottom + (names.length > 0 ? 34 : 10) }, [
    ...heading(title, caption),
    ...shapes,
    ...(names.length > 0
      ? [text('label', `flagged: ${listed(names)}`, { x: 40, y: bottom + 14, colour: WARNING })]
      : []),
  ]);
}

/** Both axes have the same steps, since they have the same scale. */
function axisOf(label: string, middle: number, half: number): PanelAxis {
  const range = [middle - half, middle + half] as const;
  return { label, range, ticks: ticks(range, 12) };
}

interface Square {
  readonly x: number;
  readonly y: number;
  /** Half of its side, with a margin for names. */
  readonly half: number;
}

function squareRound(points: readonly MapPoint[]): Square {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [west, east] = [Math.min(...xs), Math.max(...xs)];
  const [south, north] = [Math.min(...ys), Math.max(...ys)];
  return {
    x: (west + east) / 2,
    y: (south + north) / 2,
    half: 1.12 * Math.max((east - west) / 2, (north - south) / 2, 0.5),
  };
}

/** The nine tenths of the stations nearest to the median one. */
function inner(points: readonly MapPoint[]): readonly MapPoint[] {
  const middle = (of: (point: MapPoint) => number): number =>
    points.map(of).sort((a, b) => a - b)[Math.floor(points.length / 2)];
  const [x, y] = [middle((point) => point.x), middle((point) => point.y)];
  const distance = (point: MapPoint): number => Math.hypot(point.x - x, point.y - y);
  return [...points].sort((a, b) => distance(a) - distance(b)).slice(0, Math.ceil(0.9 * points.length));
}
