/**
 * Gains as CalH5, pyuvdata's format for calibration solutions, beside our JSON. Its readers divide UVH5 visibilities of
 * (A1, A2) by γ₁·conj(γ₂). UVH5 stores conj(V₁₂), and V₁₂ = g₁ M₁₂ conj(g₂): so γ = conj(g), and the file stores that.
 * Matrices are stored as four terms, conjugated likewise: conj(V₁₂) = conj(G₁) conj(M₁₂) conj(G₂)ᴴ.
 */
import { gainsCA } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { julianDate, refuseLeapSecond } from '../../core/instant.js';
import { localSiderealTimeRad } from '../../sky/earth/sidereal.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { VisibilityHeader } from '../format.js';
import { crossHandKnown, type GainsFile } from './gains.js';
import { firstCode } from '../io/gather.js';
import { reals, text, texts, truth, whole, wholes } from '../hdf5/items.js';
import { createHdf5, type Fixed } from '../hdf5/write.js';
import { bytesOf } from '../io/interleave.js';
import type { OutputFile } from '../io/output.js';
import { stationNumbers } from '../visibilities/header-facts.js';
import { telescopeItems } from '../visibilities/uvh5/plan.js';

export interface CalH5Facts {
  readonly telescope: Telescope;
  readonly channelWidthHz: number;
  readonly feeds?: VisibilityHeader['feeds'];
  /** Duration of the data that the gains were solved from. */
  readonly durationS: number;
}

/** The extra keyword that states whether X and Y share a phase reference. */
export const CROSS_HAND = 'cross_hand_phase';
export const DATA_UNITS = 'data_units';
export const FLUX_SCALE = 'flux_scale';
export const ELEMENT = 'model_element';

/** 'unknown', or how it was found; 'partly' if some solved channel or time lacks it. */
function crossHandWord(gains: GainsFile): string {
  const channels = gains.frequenciesHz.length;
  const all = [gains, ...(gains.later ?? [])].flatMap((one) => {
    const inputs = one.solved.length / channels;
    return [...crossHandKnown(one, channels)].filter((_, c) =>
      one.solved.subarray(c * inputs, (c + 1) * inputs).includes(1),
    );
  });
  if (!all.includes(1)) return 'unknown';
  return all.includes(0) ? 'partly' : (gains.crossHand?.how ?? 'unknown');
}

/** Writes the whole file into an output, which the caller finishes or abandons. */
export async function encodeCalH5(output: OutputFile, gains: GainsFile, facts: CalH5Facts): Promise<void> {
  const { path } = output;
  const { telescope, channelWidthHz, durationS } = facts;
  const { polarisations, frequenciesHz } = gains;
  const stations = gains.stations.length;
  const channels = frequenciesHz.length;
  if (telescope.stations.length !== stations) {
    refuse(
      path,
      `holds gains of ${stations} stations where ${telescope.name} has ${telescope.stations.length}`,
      'give the telescope they were solved for',
    );
  }
  const series = [gains, ...(gains.later ?? [])];
  for (const one of series) {
    gainsCA(one.gains, channels, stations * polarisations);
    refuseLeapSecond(path, one.time);
  }
  const hasLeakage = gains.leakage !== undefined;
  // Jxx, Jyy, and with leakage Jxy, Jyx: the recorded polarisation first, then the sky's.
  const terms = hasLeakage ? 4 : polarisations;
  const dims = [stations, channels, series.length, terms];
  const values = new Float64Array(2 * stations * channels * series.length * terms);
  const flags = new Uint8Array(values.length / 2);
  let at = 0;
  for (let s = 0; s < stations; s++) {
    for (let c = 0; c < channels; c++) {
      for (const one of series) {
        for (let term = 0; term < terms; term++, at++) {
          const isLeakage = term >= polarisations;
          const from = c * stations * polarisations + s * polarisations + (term % polarisations);
          const held = isLeakage
            ? (one.leakage ??
              refuse(path, 'some times have leakage and others none', 'solve all of them alike'))
            : one.gains;
          const solved = one.solved[from] === 1;
          // An unknown gain is one, and flagged, to avoid division by zero.
          values[2 * at] = solved ? held[2 * from] : isLeakage ? 0 : 1;
          values[2 * at + 1] = solved ? 0 - held[2 * from + 1] : 0;
          flags[at] = solved ? 0 : 1;
        }
      }
    }
  }
  const data = (type: Fixed['type'], array: ArrayBufferView): Fixed => ({
    kind: 'fixed',
    type,
    dims,
    bytes: bytesOf(array),
  });
  const file = await createHdf5(output, {
    kind: 'group',
    items: {
      Header: {
        kind: 'group',
        items: {
          ...telescopeItems(telescope),
          // pyuvdata uses the feed directions only if mount types are given.
          mount_type: texts(telescope.stations.map(() => 'other')),
          version: text('0.1'),
          history: text(gains.history.join('\n')),
          Nfreqs: whole(channels),
          Njones: whole(terms),
          Nspws: whole(1),
          Ntimes: whole(series.length),
          ant_array: wholes([...stationNumbers(telescope.stations)]),
          spw_array: wholes([0]),
          flex_spw_id_array: wholes(new Array<number>(channels).fill(0)),
          // AIPS codes: −5 is X with X, −6 Y with Y, −7 X with the sky's Y, −8 Y with the sky's X; −1 to −4 for right
          // and left.
          jones_array: wholes(
            Array.from({ length: terms }, (_, p) => firstCode[facts.feeds ?? 'linear'] - p),
          ),
          freq_array: reals([...frequenciesHz]),
          channel_width: reals(new Array<number>(channels).fill(channelWidthHz)),
          time_array: reals(
            series.map(({ time }) => {
              const { midnightJd, dayFraction } = julianDate(time);
              return midnightJd + dayFraction;
            }),
          ),
          lst_array: reals(series.map(({ time }) => localSiderealTimeRad(time, telescope.site.longitudeDeg))),
          integration_time: reals(series.map(() => durationS)),
          cal_type: text('gain'),
          cal_style: text('sky'),
          gain_convention: text('divide'),
          wide_band: truth('no'),
          ...(gains.fluxScale !== 'relative' && { gain_scale: text('Jy') }),
          pol_convention: text('avg'),
          Nsources: whole(gains.sources.length),
          sky_catalog: text(gains.sources.join(', ')),
          ref_antenna_name: text(gains.stations[gains.referenceStation]),
          extra_keywords: {
            kind: 'group',
            items: {
              ...(polarisations === 2 && { [CROSS_HAND]: text(crossHandWord(gains)) }),
              ...(gains.dataUnits && { [DATA_UNITS]: text(gains.dataUnits) }),
              ...(gains.fluxScale && { [FLUX_SCALE]: text(gains.fluxScale) }),
              ...(gains.element !== undefined && { [ELEMENT]: text(gains.element) }),
            },
          },
        },
      },
      Data: { kind: 'group', items: { gains: data('complex128', values), flags: data('boolean', flags) } },
    },
  });
  await file.commit();
}
