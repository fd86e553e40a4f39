/** The phase centre of a UVH5 file: the catalogue of memo 1.1, or the single centre of older files. */
import { refuse } from '../../../core/errors.js';
import { DEGREES_PER_RADIAN } from '../../../core/units.js';
import { skyFrame, type SkyPosition } from '../../../sky/frame.js';
import type { Site } from '../../../telescope/telescope.js';
import type { Hdf5File } from '../../hdf5/read.js';
import { turnedRaDeg } from '../header-facts.js';
import { chooseTarget, type ChosenTarget, type Target } from '../targets.js';
import { driftName, followedPlace, groundPlace, type Span } from './moving.js';

/** Of the Header. */
export const optionalText = (file: Hdf5File, name: string): string | undefined =>
  file.has(`Header/${name}`) ? file.text(`Header/${name}`) : undefined;

export interface Centre {
  /** Whether fringes were stopped, per row if the file has several phase centres. */
  readonly phased: (row: number) => boolean;
  /** Whether they were stopped at `phaseCentre`. */
  readonly atPhaseCentre: (row: number) => boolean;
  /** The w direction of a row at the first time, if it can be checked: `ground` if fringes run, and w is up. */
  readonly uvwTowards: (row: number) => SkyPosition | 'ground' | undefined;
  readonly phaseCentre: SkyPosition;
  readonly object: string;
  /** Assumptions for a moving centre. */
  readonly assumed?: readonly string[];
}

interface Targets extends ChosenTarget {
  /** The catalogue centre of each row; undefined in older files. */
  readonly ids?: Float64Array;
  readonly isRead: (row: number) => boolean;
}

const CATALOGUE = 'Header/phase_center_catalog';

export function targetsOf(file: Hdf5File, rows: number, asked: string | undefined): Targets {
  const { path } = file;
  if (!file.has(CATALOGUE) || !file.has('Header/phase_center_id_array')) {
    const alone = { id: 0, name: optionalText(file, 'object_name') ?? 'unknown' };
    chooseTarget(path, [alone], asked);
    return { isRead: () => true };
  }
  const ids = file.numbers('Header/phase_center_id_array');
  if (ids.length !== rows)
    refuse(path, `phase_center_id_array holds ${ids.length} values where ${rows} belong`, 'it is damaged');
  const present = [...new Set(ids)].map((id): Target => {
    if (!file.has(`${CATALOGUE}/${id}`))
      refuse(
        path,
        `row ${ids.indexOf(id)} names phase centre ${id}, which its catalogue lacks`,
        'it is damaged',
      );
    return { id, name: file.text(`${CATALOGUE}/${id}/cat_name`) };
  });
  const chosen = chooseTarget(path, present, asked);
  const { only } = chosen;
  return { ...chosen, ids, isRead: only ? (row) => ids[row] === only.id : () => true };
}

/**
 * Our positions are ICRS, equal to FK5 J2000 within 0.03″: other frames would give another position. GCRS differs by up
 * to 20″: uvw then come from our own geometry, not from the file.
 */
function frameOf(path: string, named: string | undefined, epoch: number): 'unchanged' | 'beside' {
  const frame = named?.trim().toLowerCase() ?? 'icrs';
  if (frame === 'icrs' || (frame === 'fk5' && epoch === 2000)) return 'unchanged';
  if (frame === 'gcrs') return 'beside';
  return refuse(path, `gives its phase centre in ${frame} of ${epoch}`, 'phase it to a place in ICRS');
}

const position = (lonRad: number, latRad: number): SkyPosition => ({
  raDeg: turnedRaDeg(lonRad * DEGREES_PER_RADIAN),
  decDeg: latRad * DEGREES_PER_RADIAN,
});

/** The phase centre of the rows; the zenith of the first time if fringes run. */
export function centreOf(file: Hdf5File, site: Site, span: Span, targets: Targets): Centre {
  const { ids } = targets;
  if (!ids) return loneCentre(file, site, span);
  const running = new Set(
    file
      .keys(CATALOGUE)
      .filter((key) => file.text(`${CATALOGUE}/${key}/cat_type`) === 'unprojected')
      .map(Number),
  );
  const id = targets.only?.id ?? ids[0];
  const entry = `${CATALOGUE}/${id}`;
  const type = file.text(`${entry}/cat_type`);
  const name = file.text(`${entry}/cat_name`);
  const phased = (row: number): boolean => !running.has(ids[row]);
  // Rows that follow a moving target have other uvw than its position at one time.
  const uvwTowards =
    (place: SkyPosition | 'ground' | undefined): Centre['uvwTowards'] =>
    (row) =>
      ids[row] === id ? place : undefined;
  const nowhere = { phased, atPhaseCentre: () => false };
  if (type === 'unprojected')
    return { ...nowhere, uvwTowards: uvwTowards('ground'), ...zenithOf(name, site, span) };
  if (type === 'driftscan')
    return {
      ...nowhere,
      uvwTowards: uvwTowards(
        groundPlace(file, entry, site, { first: span.first, last: span.first }).phaseCentre,
      ),
      ...groundPlace(file, entry, site, span),
      object: driftName(name, 'drift scan'),
    };
  if (type !== 'sidereal' && type !== 'ephem')
    refuse(file.path, `has a phase centre of the kind '${type}'`, 'phase it to a place in ICRS');
  const frame = frameOf(
    file.path,
    file.has(`${entry}/cat_frame`) ? file.text(`${entry}/cat_frame`) : undefined,
    file.has(`${entry}/cat_epoch`) ? file.numbers(`${entry}/cat_epoch`)[0] : 2000,
  );
  if (type === 'ephem') {
    const followed = followedPlace(file, entry, name, span);
    return { ...nowhere, uvwTowards: uvwTowards(followed.phaseCentre), ...followed, object: name };
  }
  const phaseCentre = position(file.numbers(`${entry}/cat_lon`)[0], file.numbers(`${entry}/cat_lat`)[0]);
  return {
    phased,
    atPhaseCentre: (row) => frame === 'unchanged' && ids[row] === id,
    uvwTowards: uvwTowards(phaseCentre),
    phaseCentre,
    object: name,
  };
}

const zenithOf = (
  name: string,
  site: Site,
  { first }: Span,
): Pick<Centre, 'phaseCentre' | 'object' | 'assumed'> => ({
  phaseCentre: skyFrame(site, first).zenith,
  object: driftName(name, 'zenith'),
});

/** For files before the catalogue; frame and epoch if given. */
function loneCentre(file: Hdf5File, site: Site, span: Span): Centre {
  const name = optionalText(file, 'object_name') ?? 'unknown';
  if (optionalText(file, 'phase_type') !== 'phased')
    return {
      phased: () => false,
      atPhaseCentre: () => false,
      uvwTowards: () => 'ground',
      ...zenithOf(name, site, span),
    };
  if (!file.has('Header/phase_center_ra') || !file.has('Header/phase_center_dec'))
    refuse(
      file.path,
      `is phased to ${name} and does not state where that is`,
      'add phase_center_ra and phase_center_dec to its Header',
    );
  const epoch = file.has('Header/phase_center_epoch') ? file.number('Header/phase_center_epoch') : 2000;
  const frame = frameOf(file.path, optionalText(file, 'phase_center_frame'), epoch);
  const phaseCentre = position(file.number('Header/phase_center_ra'), file.number('Header/phase_center_dec'));
  return {
    phased: () => true,
    atPhaseCentre: () => frame === 'unchanged',
    uvwTowards: () => phaseCentre,
    phaseCentre,
    object: name,
  };
}
