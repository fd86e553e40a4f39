/** The Moon and the planets. The user gives their flux. */
import { AstroTime, Body, GeoVector, Observer, ObserverVector } from 'astronomy-engine';
import { toDate } from '../core/instant.js';
import { positionFromJ2000 } from './frame.js';
import { unpolarised, type Source } from './source.js';

const names = [
  Body.Moon,
  Body.Mercury,
  Body.Venus,
  Body.Mars,
  Body.Jupiter,
  Body.Saturn,
  Body.Uranus,
  Body.Neptune,
] as const;

/** As seen from the site; the frame adds aberration. */
export const bodies: readonly Source[] = names.map((name) => ({
  name,
  isMoving: true,
  position: ({ moment, site }) => {
    const time = new AstroTime(toDate(moment));
    const centre = GeoVector(name, time, false);
    const own = ObserverVector(time, new Observer(site.latitudeDeg, site.longitudeDeg, site.heightM), false);
    return positionFromJ2000({ x: centre.x - own.x, y: centre.y - own.y, z: centre.z - own.z });
  },
  fluxJy: () => 0,
  stokes: unpolarised,
}));
