/** Where X points by the feeds themselves. */
import type { VisibilityHeader } from '../../format.js';
import type { Hdf5File } from '../../hdf5/read.js';

/** Memo 1.3 tells each feed's name and angle, π/2 being east; what is neither has no name here. */
export function orientationOfFeeds(file: Hdf5File): VisibilityHeader['xOrientation'] {
  if (!file.has('Header/feed_array') || !file.has('Header/feed_angle')) return 'unknown';
  const feeds = file.texts('Header/feed_array').map((name) => name.trim().toLowerCase());
  const angles = file.numbers('Header/feed_angle');
  const all = (name: string, angleRad: number): boolean =>
    feeds.every((feed, k) => feed !== name || Math.abs(angles[k] - angleRad) < 1e-5);
  if (angles.length !== feeds.length || !(feeds.includes('x') && feeds.includes('y'))) return 'unknown';
  if (all('x', Math.PI / 2) && all('y', 0)) return 'east';
  return all('x', 0) && all('y', Math.PI / 2) ? 'north' : 'unknown';
}
