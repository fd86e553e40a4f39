/** Sky models of pyradiosky (skyh5): points with flat, power-law, sub-band or full spectra. */
import { closingAfter } from '../../core/closing.js';
import { entryOf } from '../../core/entry-of.js';
import { refuse } from '../../core/errors.js';
import { brightestOf, type SkyModel } from '../../sky/models/brightest.js';
import { fluxOf, joined } from '../../sky/models/spectrum.js';
import { checkedStokes, type Source } from '../../sky/source.js';
import { openHdf5, type Hdf5File } from '../hdf5/read.js';

const spectralTypes = ['flat', 'spectral_index', 'subband', 'full'] as const;

export const readSkyH5 = (path: string): Promise<SkyModel> =>
  closingAfter(async (closers) => modelOf(closers.keep(await openHdf5(path))));

function modelOf(file: Hdf5File): SkyModel {
  const { path } = file;
  const word = (name: string): string => file.text(`Header/${name}`).trim();
  if (!file.has('Header/component_type'))
    refuse(path, 'is HDF5, but no sky model (skyh5)', 'write one with pyradiosky (write_skyh5)');
  const kind = word('component_type');
  if (kind !== 'point')
    refuse(path, `holds components of type ${kind}`, 'points are read (component_type point)');
  const type = word('spectral_type');
  const spectral =
    spectralTypes.find((one) => one === type) ??
    refuse(path, `its spectral_type is ${type}`, `${spectralTypes.join(', ')} are read`);
  const { raDeg, decDeg } = placesOf(file);
  const count = raDeg.length;
  const stokes = file.dataset('Data/stokes');
  const frequencies = stokes.shape[1];
  if (stokes.shape.length !== 3 || stokes.shape[0] !== 4 || stokes.shape[2] !== count)
    refuse(path, `Data/stokes is [${stokes.shape.join('][')}] of ${count} components`, 'it is damaged');
  const toJy = unitOf(file);
  // [4][frequency][component]
  const values = stokes.rows(0, 4);
  const valueOf = (k: number, f: number, n: number): number =>
    values[(k * frequencies + f) * count + n] * toJy;
  const names = file.has('Header/name') ? file.texts('Header/name') : [];
  const spectrum = spectra(file, spectral, { frequencies, count, fluxJy: (f, n) => valueOf(0, f, n) });
  const brightest = brightestOf();
  for (let n = 0; n < count; n++) {
    const where = `${path}, component ${n + 1}`;
    const position = { raDeg: raDeg[n], decDeg: decDeg[n] };
    if (!Number.isFinite(position.raDeg) || !(Math.abs(position.decDeg) <= 90))
      refuse(where, `is at ${position.raDeg}, ${position.decDeg}`, 'give degrees');
    // The frequency of maximum brightness.
    const at = Array.from({ length: frequencies }, (_, f) => f).reduce((best, f) =>
      Math.abs(valueOf(0, f, n)) > Math.abs(valueOf(0, best, n)) ? f : best,
    );
    const fluxJy = valueOf(0, at, n);
    if (!Number.isFinite(fluxJy)) refuse(where, `its flux is ${fluxJy}`, 'give a number');
    const part = (k: number, f: number): number =>
      valueOf(k, f, n) === 0 ? 0 : valueOf(k, f, n) / valueOf(0, f, n);
    for (let f = 0; f < frequencies; f++)
      for (const k of [1, 2, 3])
        if (Math.abs(part(k, f) - part(k, at)) > 1e-3)
          refuse(
            where,
            'its polarised fraction changes with frequency',
            'give one fraction for all, or I alone',
          );
    const source: Source = {
      name: names.at(n)?.replace(/\0+$/, '') ?? `component ${n + 1}`,
      position: () => position,
      fluxJy: spectrum(n),
      stokes: checkedStokes(where, { q: part(1, at), u: part(2, at), v: part(3, at) }),
    };
    brightest.add({ source, fluxJy });
  }
  return brightest.finish();
}

/** Degrees per one of each. */
const ANGLES = { deg: 1, rad: 180 / Math.PI, hourangle: 15 };

/** In a group with astropy's names or, in older files, as two lists. */
function placesOf(file: Hdf5File): { readonly raDeg: Float64Array; readonly decDeg: Float64Array } {
  const { path } = file;
  const isGroup = file.has('Header/skycoord/frame');
  const frame = file.text(isGroup ? 'Header/skycoord/frame' : 'Header/frame');
  // FK5 of J2000 and ICRS differ by 0.03″ at most.
  if (frame !== 'icrs' && frame !== 'fk5')
    refuse(path, `gives its places in ${frame}`, 'write it in ICRS (pyradiosky: transform_to)');
  const [ra, dec] = isGroup ? ['Header/skycoord/ra', 'Header/skycoord/dec'] : ['Header/lon', 'Header/lat'];
  const degrees = (item: string): Float64Array => {
    const unit = file.attribute(item, 'unit') ?? file.attribute(item, 'units') ?? 'deg';
    const scale = entryOf(ANGLES, String(unit).replace(/\0+$/, ''));
    if (scale === undefined) return refuse(path, `${item} is in ${unit}`, 'write degrees');
    return file.numbers(item).map((value) => value * scale);
  };
  const equinox =
    isGroup && file.has('Header/skycoord/equinox') ? file.text('Header/skycoord/equinox') : 'J2000';
  if (!equinox.startsWith('J2000'))
    refuse(path, `its places are of ${equinox}`, 'write them in ICRS or J2000');
  const [raDeg, decDeg] = [degrees(ra), degrees(dec)];
  return raDeg.length === decDeg.length
    ? { raDeg, decDeg }
    : refuse(path, 'contradicts itself', 'it is damaged');
}

/** Jy per one of its units. */
function unitOf(file: Hdf5File): number {
  const unit = String(
    file.attribute('Data/stokes', 'units') ?? file.attribute('Data/stokes', 'unit') ?? 'Jy',
  ).replace(/\0+$/, '');
  return (
    entryOf({ Jy: 1, mJy: 1e-3 }, unit) ??
    refuse(file.path, `its fluxes are in ${unit}`, 'write them in Jy (pyradiosky: kelvin_to_jansky)')
  );
}

function spectra(
  file: Hdf5File,
  type: (typeof spectralTypes)[number],
  of: {
    readonly frequencies: number;
    readonly count: number;
    readonly fluxJy: (f: number, n: number) => number;
  },
): (n: number) => Source['fluxJy'] {
  const { frequencies, count, fluxJy } = of;
  const listed = (name: string, length: number): Float64Array => {
    const values = file.numbers(`Header/${name}`);
    return values.length === length
      ? values
      : refuse(file.path, `Header/${name} holds ${values.length} numbers, not ${length}`, 'it is damaged');
  };
  if (type === 'flat') {
    if (frequencies !== 1) refuse(file.path, 'is flat at several frequencies', 'it is damaged');
    return (n) => () => fluxJy(0, n);
  }
  if (type === 'spectral_index') {
    const [referenceHz, index] = [listed('reference_frequency', count), listed('spectral_index', count)];
    return (n) =>
      fluxOf({ fluxJy: fluxJy(0, n), referenceHz: referenceHz[n], terms: [index[n]], kind: 'logarithmic' });
  }
  const hz = listed('freq_array', frequencies);
  if (frequencies < 2) refuse(file.path, `has a ${type} spectrum of one frequency`, 'give a spectral_index');
  const order = Array.from(hz.keys()).sort((one, other) => hz[one] - hz[other]);
  return (n) => joined(order.map((f) => ({ frequencyHz: hz[f], fluxJy: fluxJy(f, n) })));
}
