/**
 * Source lists of hyperdrive (MWA): YAML, a list of components under each source's name. Positions are in degrees,
 * sizes in arcseconds. A curved power law is S₀·(f/f₀)^si·e^(q·ln²(f/f₀)); a list is joined by power laws.
 */
import { parse } from 'yaml';
import { refuse } from '../../core/errors.js';
import { checkedStokes, type GaussianShape, type Source, type StokesFractions } from '../source.js';
import type { Component } from './brightest.js';
import { fluxOf, joined } from './spectrum.js';

type Table = Readonly<Record<string, unknown>>;

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** hyperdrive's own default, for a list of one frequency. */
const DEFAULT_INDEX = -0.8;

export const isHyperdriveList = (text: string): boolean =>
  /^\s*(?:- )?\s*["']?comp_type["']?\s*:/m.test(text) && /^\s*(?:- )?\s*["']?flux_type["']?\s*:/m.test(text);

export function* parseHyperdrive(text: string, path: string): Generator<Component> {
  let found: unknown;
  try {
    found = parse(text);
    // What contains itself by an alias cannot be written again.
    JSON.stringify(found);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    refuse(path, `is not valid YAML (${reason})`, 'correct it, or write it again with hyperdrive');
  }
  if (!isTable(found)) return refuse(path, 'holds no sources by name', 'write NAME: and components below it');
  for (const [name, list] of Object.entries(found)) {
    if (!Array.isArray(list))
      return refuse(`${path}, ${name}`, 'is no list of components', 'begin each component with - ra: …');
    for (const [k, one] of list.entries()) {
      const where = `${path}, ${name}, component ${k + 1}`;
      yield componentOf(list.length === 1 ? name : `${name} ${k + 1}`, asTable(one, where, 'it'), where);
    }
  }
}

const asTable = (value: unknown, where: string, what: string): Table =>
  isTable(value) ? value : refuse(where, `${what} is ${JSON.stringify(value)}`, 'give its fields');

function numberIn(table: Table, name: string, where: string, otherwise?: number): number {
  const value = table[name] ?? otherwise;
  return typeof value === 'number' && Number.isFinite(value)
    ? value
    : refuse(where, `its ${name} is ${JSON.stringify(value)}`, 'give a number');
}

interface Flux {
  readonly frequencyHz: number;
  readonly fluxJy: number;
  readonly stokes: StokesFractions;
}

function fluxAt(value: unknown, where: string): Flux {
  const table = asTable(value, where, 'its flux');
  const frequencyHz = numberIn(table, 'freq', where);
  const fluxJy = numberIn(table, 'i', where);
  if (!(frequencyHz > 0)) refuse(where, `its freq is ${frequencyHz}`, 'give Hz');
  const part = (name: string): number => {
    const jy = numberIn(table, name, where, 0);
    return jy === 0 ? 0 : jy / fluxJy;
  };
  const stokes = checkedStokes(where, { q: part('q'), u: part('u'), v: part('v') });
  return { frequencyHz, fluxJy, stokes };
}

function componentOf(name: string, table: Table, where: string): Component {
  const position = { raDeg: numberIn(table, 'ra', where), decDeg: numberIn(table, 'dec', where) };
  if (!(Math.abs(position.decDeg) <= 90))
    refuse(where, `its dec is ${position.decDeg}`, 'give -90 to 90 degrees');
  const shape = shapeOf(table.comp_type, where);
  const spectrum = spectrumOf(asTable(table.flux_type, where, 'its flux_type'), where);
  const source: Source = {
    name,
    position: () => position,
    fluxJy: spectrum.fluxJy,
    stokes: spectrum.at.stokes,
    shape,
  };
  return { source, fluxJy: spectrum.at.fluxJy };
}

function shapeOf(value: unknown, where: string): GaussianShape | undefined {
  if (value === 'point') return undefined;
  const gaussian = isTable(value) ? value.gaussian : undefined;
  if (!isTable(gaussian)) {
    const kind = isTable(value) ? Object.keys(value).join() : JSON.stringify(value);
    return refuse(where, `its comp_type is ${kind}`, 'points and Gaussians are read');
  }
  return {
    majorDeg: numberIn(gaussian, 'maj', where) / 3600,
    minorDeg: numberIn(gaussian, 'min', where) / 3600,
    positionAngleDeg: numberIn(gaussian, 'pa', where),
  };
}

function spectrumOf(type: Table, where: string): { readonly at: Flux; readonly fluxJy: Source['fluxJy'] } {
  const { power_law: law, curved_power_law: curved, list } = type;
  const named = isTable(law) ? law : isTable(curved) ? curved : undefined;
  if (named) {
    const at = fluxAt(named.fd, where);
    // log₁₀ of e^(q·ln²x) is q·ln(10)·log₁₀²x.
    const curvature = isTable(curved) ? numberIn(named, 'q', where) * Math.LN10 : 0;
    return { at, fluxJy: fluxOf({ ...spectrumFrom(at), terms: [numberIn(named, 'si', where), curvature] }) };
  }
  if (!Array.isArray(list) || list.length === 0)
    return refuse(
      where,
      `its flux_type is ${Object.keys(type).join() || 'empty'}`,
      'power_law, curved_power_law and list are read',
    );
  const fluxes = list
    .map((one) => fluxAt(one, where))
    .sort((one, other) => one.frequencyHz - other.frequencyHz);
  const at = fluxes.reduce((best, one) => (Math.abs(one.fluxJy) > Math.abs(best.fluxJy) ? one : best));
  refuseOtherStokes(fluxes, at.stokes, where);
  return {
    at,
    fluxJy: fluxes.length === 1 ? fluxOf({ ...spectrumFrom(at), terms: [DEFAULT_INDEX] }) : joined(fluxes),
  };
}

const spectrumFrom = ({ fluxJy, frequencyHz }: Flux) =>
  ({ fluxJy, referenceHz: frequencyHz, kind: 'logarithmic' }) as const;

/** Corella uses one polarised fraction at all frequencies of a source. */
function refuseOtherStokes(fluxes: readonly Flux[], stokes: StokesFractions, where: string): void {
  for (const one of fluxes)
    for (const key of ['q', 'u', 'v'] as const)
      if (Math.abs(one.stokes[key] - stokes[key]) > 1e-3)
        refuse(
          where,
          `its ${key.toUpperCase()} is another fraction of I at ${one.frequencyHz} Hz`,
          'give one polarised fraction for all frequencies, or leave Q, U and V out',
        );
}
