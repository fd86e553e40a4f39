/** Picture of a filter's response: scalloping and leakage, with those of a plain DFT, and of a wider passband. */
import type { FilterResponse } from '../../channelise/index.js';
import { linePlots, seriesColour, type Picture, type PlotSeries } from '../../draw/index.js';

export function responsePicture(
  channels: number,
  response: FilterResponse,
  {
    name,
    wider,
    widerName = '',
  }: { readonly name: string; readonly wider?: FilterResponse; readonly widerName?: string },
): Picture {
  const { offsetChannels, leakageOffsetChannels, curveOffsetChannels } = response;
  const far = curveOffsetChannels[curveOffsetChannels.length - 1];
  const right = leakageOffsetChannels.filter((offset) => offset > 0 && offset < far);
  const dots = (levels: Float64Array, like: number): PlotSeries => ({
    name: 'channels',
    x: right,
    y: levels.subarray(levels.length / 2),
    drawn: 'dots',
    size: 3,
    colour: seriesColour(like),
    unnamed: true,
  });
  return linePlots([
    {
      title: `${channels} channels. Scalloping: a tone on its way from one channel to the next`,
      x: { label: 'offset of the tone (channels)' },
      y: { label: 'strongest channel (dB)', range: [-8, 0.5] },
      legend: 'bottom-right',
      series: [
        { name: 'plain DFT', x: offsetChannels, y: response.dftScallopingDb, drawn: 'dashes' },
        { name, x: offsetChannels, y: response.scallopingDb },
        ...(wider ? [{ name: widerName, x: offsetChannels, y: wider.scallopingDb }] : []),
      ],
    },
    {
      title: `${channels} channels. Leakage: a tone’s level in a channel; dots: midway between two`,
      x: { label: 'distance of the tone from the channel’s centre (channels)', range: [0, far] },
      y: { label: 'response (dB)', range: [-120, 5] },
      series: [
        { name: 'plain DFT', x: curveOffsetChannels, y: response.dftCurveDb, drawn: 'dashes' },
        { name, x: curveOffsetChannels, y: response.curveDb },
        ...(wider ? [{ name: widerName, x: curveOffsetChannels, y: wider.curveDb }] : []),
        dots(response.dftLeakageDb, 0),
        dots(response.leakageDb, 1),
        ...(wider ? [dots(wider.leakageDb, 2)] : []),
      ],
    },
  ]);
}
