/** The mean spectrum of a file as a picture. */
import { linePlot, type Picture } from '../../draw/index.js';

export interface Spectrum {
  readonly frequenciesHz: Float64Array;
  readonly powerDb: Float64Array;
}

export const spectrumPicture = (
  { frequenciesHz, powerDb }: Spectrum,
  path: string,
): { readonly picture: Picture; readonly widthPx: number } => ({
  picture: linePlot({
    title: `Mean spectrum of all inputs, ${path}`,
    x: { label: 'frequency (MHz)' },
    y: { label: 'power (dB from its peak)' },
    series: [{ name: 'all inputs', x: frequenciesHz.map((f) => f / 1e6), y: powerDb }],
  }),
  widthPx: 1200,
});
