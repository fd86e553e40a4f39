/** Options of images at any centre: where, how many pixels, how right, which weights, CLEAN. */
import { Option, type Command } from 'commander';
import { realNumber, refuse } from '../../core/errors.js';
import { RADIANS_PER_DEGREE } from '../../core/units.js';
import type { CleanOptions, WideWeighting } from '../../image/index.js';
import { localCentre, parsePhaseCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import { angle, plainNumber } from './quantity.js';
import { parseWhole } from './command.js';

export interface WideOptions {
  readonly centre?: PhaseCentre;
  readonly cell?: number;
  readonly accuracy?: number;
  readonly weights?: WideWeights;
  readonly taper?: number;
  /** By default all four of snapshots of the whole sky, and I of other images. */
  readonly stokes?: 'I' | 'IQUV';
  readonly clean?: true | number;
  readonly threshold?: number;
  readonly loopGain?: number;
  readonly autoThreshold?: number;
  readonly autoMask?: number;
}

/** Stands for the normal of the stations' plane, which a telescope's own positions give. */
export const ARRAY_CENTRE = localCentre('array', { x: 0, y: 0, z: 1 });

/** Those that direct images do not have. */
export const wideOptionNames = [
  ...['centre', 'cell', 'accuracy', 'taper', 'stokes'],
  ...['clean', 'threshold', 'loopGain', 'autoThreshold', 'autoMask'],
] as const;

export type WideWeights =
  { readonly kind: 'natural' | 'uniform' } | { readonly kind: 'briggs'; readonly robustness: number };

export function addWideOptions(command: Command): Command {
  return command
    .optionsGroup('Anywhere in the sky (visibilities):')
    .option(
      '--centre <place>',
      'a source, "RA Dec", Sun, zenith, or array: normal to the plane of the stations (default: the zenith of dipole arrays, else the file\'s own phase centre)',
      (text) => (/^array$/i.test(text.trim()) ? ARRAY_CENTRE : parsePhaseCentre(text, '--centre')),
    )
    .option(
      '--cell <angle>',
      'from pixel to pixel, like 30arcsec, 2arcmin or degrees (default: a quarter of the beam)',
      angle('--cell'),
    )
    .option(
      '--accuracy <number>',
      'largest error of a pixel over the peak, 1e-2 to 1e-7 (default: 1e-4)',
      accuracyOf,
    )
    .option(
      '--weights <name>',
      'natural: deepest; uniform: sharpest; briggs or briggs:R between, R from −2 to 2 (default: natural)',
      parseWeights,
    )
    .addOption(new Option('--weight <name>').argParser(parseWeights).hideHelp())
    .option('--taper <angle>', 'let the beam be no narrower than this, like 2arcmin', angle('--taper'))
    .option(
      '--stokes <which>',
      'I, or IQUV (default: IQUV of the whole sky in up to two minutes, else I)',
      parseStokes,
    )
    .option('--clean [components]', 'CLEAN, with at most so many components (default: 100,000)', parseWhole)
    .option('--threshold <Jy>', 'of CLEAN: no component below it', plainNumber('--threshold'))
    .option(
      '--loop-gain <part>',
      'of CLEAN, also --gain: what a component takes of a peak (default: 0.1)',
      plainNumber('--loop-gain'),
    )
    .option(
      '--auto-threshold <sigma>',
      'of CLEAN: stop at so many times the noise (default: 3, unless --threshold is given)',
      plainNumber('--auto-threshold'),
    )
    .option(
      '--auto-mask <sigma>',
      'of CLEAN: below so many times the noise, components only where there are some already (default: 5)',
      plainNumber('--auto-mask'),
    );
}

const accuracyOf = (text: string): number =>
  realNumber('--accuracy', 'the accuracy', plainNumber('--accuracy')(text), 1e-7, 1e-2);

function parseStokes(text: string): 'I' | 'IQUV' {
  const name = text.toUpperCase();
  return name === 'I' || name === 'IQUV'
    ? name
    : refuse('--stokes', `'${text}' is no choice`, 'choose I or IQUV');
}

export function parseWeights(text: string): WideWeights {
  const [kind, robustness, ...rest] = text.toLowerCase().split(':') as [string, string?, ...string[]];
  if ((kind === 'natural' || kind === 'uniform') && robustness === undefined) return { kind };
  if (kind === 'briggs' && rest.length === 0) {
    const value = robustness === undefined ? 0 : plainNumber('--weights')(robustness);
    return { kind, robustness: realNumber('--weights', 'robustness', value, -10, 10) };
  }
  return refuse('--weights', `'${text}' is no weighting`, 'choose natural, uniform, briggs or briggs:0.5');
}

export const weightingOf = ({ weights, taper }: Pick<WideOptions, 'weights' | 'taper'>): WideWeighting => ({
  ...(weights ?? { kind: 'natural' }),
  ...(taper === undefined ? {} : { taperFwhm: Math.sin(taper * RADIANS_PER_DEGREE) }),
});

export const weightWords = ({ weights, taper }: Pick<WideOptions, 'weights' | 'taper'>): string =>
  [
    weights?.kind === 'briggs' ? `Briggs ${weights.robustness}` : (weights?.kind ?? 'natural'),
    'weights',
    ...(taper === undefined ? [] : ['tapered']),
  ].join(' ');

/** Nothing where no CLEAN is asked for; its other options alone are refused. */
export function cleanOf(options: WideOptions): CleanOptions | undefined {
  const { clean, threshold, loopGain, autoThreshold, autoMask } = options;
  if (clean === undefined) {
    for (const [name, value] of Object.entries({ threshold, loopGain, autoThreshold, autoMask })) {
      if (value === undefined) continue;
      refuse(
        `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
        'is for CLEAN',
        'add --clean',
      );
    }
    return undefined;
  }
  return {
    autoMask: autoMask ?? 5,
    ...(clean === true ? {} : { mostIterations: clean }),
    ...(threshold === undefined ? {} : { thresholdJy: threshold }),
    ...(loopGain === undefined ? {} : { gain: loopGain }),
    ...(autoThreshold === undefined ? {} : { autoThreshold }),
  };
}
