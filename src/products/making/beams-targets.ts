/** Beam targets: sources and pulsars by name, coordinates, the Moon and planets, fixed directions, grids. */
import { refuse } from '../../core/errors.js';
import { RADIANS_PER_DEGREE } from '../../core/units.js';
import { normalise, type Vector3 } from '../../core/vector.js';
import { directionFromAltAz, type SkyFrame } from '../../sky/frame.js';
import { parsePhaseCentre, type PhaseCentre } from '../../sky/phase-centre.js';

/** Bright pulsars; J2000 positions of the ATNF catalogue (Manchester et al. 2005), no proper motion: to 20″. */
const pulsars: Readonly<Record<string, readonly [names: readonly string[], place: string]>> = {
  'B0329+54': [['J0332+5434'], '03h32m59.41s +54d34m43.3s'],
  'B0437-47': [['J0437-4715'], '04h37m15.99s -47d15m09.7s'],
  'B0531+21': [['J0534+2200', 'Crab pulsar'], '05h34m31.95s +22d00m52.2s'],
  'B0809+74': [['J0814+7429'], '08h14m59.50s +74d29m05.7s'],
  'B0833-45': [['J0835-4510', 'Vela pulsar'], '08h35m20.61s -45d10m34.9s'],
  'B0834+06': [['J0837+0610'], '08h37m05.64s +06d10m14.6s'],
  'B0950+08': [['J0953+0755'], '09h53m09.31s +07d55m35.8s'],
  'B1133+16': [['J1136+1551'], '11h36m03.12s +15d51m14.2s'],
  'B1919+21': [['J1921+2153'], '19h21m44.82s +21d53m02.3s'],
};

const plain = (name: string): string => name.toLowerCase().replaceAll(/[\s_]/g, '').replaceAll('−', '-');

/** `where` is the field for errors. */
export function parseTarget(text: string, where: string): PhaseCentre {
  const asked = text.trim();
  const local = /^az\s*([+-]?[\d.]+)\s*(?:°|deg)?\s*,?\s*el\s*([+-]?[\d.]+)\s*(?:°|deg)?$/i.exec(asked);
  if (local) return overGround(asked, Number(local[1]), Number(local[2]), where);
  const pulsar = Object.entries(pulsars).find(([name, [others]]) =>
    [name, ...others, `PSR ${name}`].some((one) => plain(one) === plain(asked)),
  );
  if (!pulsar) return parsePhaseCentre(asked, where);
  return { ...parsePhaseCentre(pulsar[1][1], where), name: pulsar[0] };
}

function overGround(name: string, azimuthDeg: number, altitudeDeg: number, where: string): PhaseCentre {
  if (!(azimuthDeg >= 0 && azimuthDeg < 360 && altitudeDeg >= 0 && altitudeDeg <= 90))
    refuse(
      where,
      `'${name}' is no direction above the horizon`,
      'give an azimuth from 0 to 360° (north through east) and an elevation from 0 to 90°',
    );
  const direction = directionFromAltAz(altitudeDeg, azimuthDeg);
  return {
    name,
    kind: 'local',
    position: (frame) => frame.positionOf(direction),
    directionEnu: () => direction,
  };
}

interface Grid {
  readonly columns: number;
  readonly rows: number;
  readonly spacingDeg: number;
}

/** West to east, south to north; on the tangent plane of the target, along J2000 east and north. */
export function gridAround(target: PhaseCentre, { columns, rows, spacingDeg }: Grid): readonly PhaseCentre[] {
  const step = spacingDeg * RADIANS_PER_DEGREE;
  return Array.from({ length: columns * rows }, (_, n): PhaseCentre => {
    const east = (n % columns) - (columns - 1) / 2;
    const north = Math.floor(n / columns) - (rows - 1) / 2;
    if (east === 0 && north === 0) return target;
    const directionEnu = (frame: SkyFrame): Vector3 => {
      const { l, m, n: towards } = frame.tangentAxes(target.position(frame));
      const along = (axis: 'x' | 'y' | 'z'): number =>
        towards[axis] + step * (east * l[axis] + north * m[axis]);
      return normalise({ x: along('x'), y: along('y'), z: along('z') });
    };
    return {
      name: `${target.name} ${offset(east * spacingDeg)} ${offset(north * spacingDeg)}`,
      kind: target.kind,
      position: (frame) => frame.positionOf(directionEnu(frame)),
      directionEnu,
    };
  });
}

const offset = (degrees: number): string => `${degrees < 0 ? '-' : '+'}${Math.abs(degrees).toFixed(3)}`;
