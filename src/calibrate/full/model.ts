/** The model's visibilities with their cross hands. */
import { baselineCount, visibilitiesCBPP, type VisibilitiesCBPP } from '../../core/axes.js';
import {
  attenuationOf,
  checkComponent,
  fillPhasors,
  pairVoltage,
  voltageOf,
  type ModelComponent,
  type ModelOptions,
} from '../model.js';

/**
 * M_ij = Σ_q E_i B_q E_jᴴ e^(+2πi f (r_i − r_j)·ŝ_q / c) as XX, XY, YX, YY, with B = [[I − Q, U − iV], [U + iV, I + Q]] and E the
 * voltages of X and Y.
 */
export function fullModelVisibilities({
  stationsM,
  frequenciesHz,
  components,
}: Omit<ModelOptions, 'polarisations'>): VisibilitiesCBPP {
  const stations = stationsM.length;
  const baselines = baselineCount(stations);
  const channels = frequenciesHz.length;
  const model = new Float64Array(8 * channels * baselines);
  for (const [q, component] of components.entries()) checkComponent(component, q, channels, stations);
  const phasors = new Float64Array(2 * stations);
  for (let c = 0; c < channels; c++) {
    for (const component of components) {
      fillPhasors(phasors, stationsM, component.directionEnu, frequenciesHz[c]);
      const seen = attenuationOf(component, stationsM, frequenciesHz[c]);
      const coherency = coherencyOf(component, c);
      let at = 8 * c * baselines;
      for (let i = 0; i < stations; i++) {
        for (let j = 0; j <= i; j++) {
          const part = seen(i, j);
          const re = part * (phasors[2 * i] * phasors[2 * j] + phasors[2 * i + 1] * phasors[2 * j + 1]);
          const im = part * (phasors[2 * i + 1] * phasors[2 * j] - phasors[2 * i] * phasors[2 * j + 1]);
          for (let p = 0; p < 2; p++) {
            for (let q = 0; q < 2; q++) {
              const own = pairVoltage(component, c, [i, p], [j, q]);
              const { re: ofRe, im: ofIm } = coherency[2 * p + q];
              model[at++] += own * (ofRe * re - ofIm * im);
              model[at++] += own * (ofRe * im + ofIm * re);
            }
          }
        }
      }
    }
  }
  return visibilitiesCBPP(model, channels, baselines, 2);
}

/** XX, XY, YX, YY of a component in Jy, through the beam where all stations have the same. */
export function coherencyOf(
  component: ModelComponent,
  c: number,
): { readonly re: number; readonly im: number }[] {
  const { fluxJy, fractionQ = 0, fractionU = 0, fractionV = 0 } = component;
  const [x, y] = [voltageOf(component, c, 0), voltageOf(component, c, 1)];
  const flux = fluxJy[c];
  return [
    { re: flux * x * x * (1 - fractionQ), im: 0 },
    { re: flux * x * y * fractionU, im: -flux * x * y * fractionV },
    { re: flux * x * y * fractionU, im: flux * x * y * fractionV },
    { re: flux * y * y * (1 + fractionQ), im: 0 },
  ];
}
