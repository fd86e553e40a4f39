/** Report of inspect for a filterbank. */
import { formatInstant } from '../../core/instant.js';
import { formatHz, formatSeconds, withMinus } from '../../core/units.js';
import { holdsFilterbank, openFilterbank, type Filterbank } from '../../formats/index.js';
import { dynamicSpectrum, filterbankPicture, type DynamicSpectrum } from '../pictures/filterbank.js';
import type { Inspected } from './report.js';
import { line } from './text.js';

/** Undefined if the file is no filterbank. */
export async function inspectedFilterbank(path: string): Promise<Inspected | undefined> {
  if (!(await holdsFilterbank(path))) return undefined;
  const file = await openFilterbank(path);
  return {
    holds: 'filterbank',
    report: async ({ whole = false, draw = [] }) => {
      const spectrum = await dynamicSpectrum(file, { whole });
      const { header, values, leftOverBytes, keywords } = file;
      const { mean, least, most, notFinite } = spectrum;
      return {
        json: {
          path,
          kind: 'filterbank',
          format: file.format,
          ...header,
          start: formatInstant(header.start, 9),
          values,
          leftOverBytes,
          read: spectrum.values,
          mean,
          least,
          most,
          notFinite,
          details: keywords,
        },
        lines: linesOf(file, spectrum),
        pictures: draw.includes('picture')
          ? { picture: { picture: filterbankPicture(file, spectrum, path), widthPx: 1400 } }
          : {},
      };
    },
    close: () => file.close(),
  };
}

function linesOf(
  { path, format, header, values, leftOverBytes }: Filterbank,
  spectrum: DynamicSpectrum,
): string[] {
  const { channels, channelStepHz, firstChannelHz, planes, bits, position, beam, beams } = header;
  const lastHz = firstChannelHz + (channels - 1) * channelStepHz;
  const number = (value: number): string => withMinus(Number(value.toPrecision(4)));
  return [
    line('file', path),
    line(
      'format',
      `${format === 'psrfits' ? 'PSRFITS in search mode' : 'SIGPROC filterbank'}, ${bits} bits${bits === 32 ? ' (floats)' : ''}`,
    ),
    line(
      'source',
      `${header.sourceName ?? 'unknown'}${(beams ?? 1) > 1 ? `, beam ${beam ?? 0} of ${beams ?? 1}` : ''}`,
    ),
    line('start', `${formatInstant(header.start, 6)}, at the telescope`),
    line('values', `${values} of ${formatSeconds(header.valueS)}: ${formatSeconds(values * header.valueS)}`),
    line(
      'channels',
      `${channels} of ${formatHz(Math.abs(channelStepHz))}, ${formatHz(Math.min(firstChannelHz, lastHz))} to ${formatHz(Math.max(firstChannelHz, lastHz))}`,
    ),
    line('planes', String(planes)),
    ...(position
      ? [
          line(
            'towards',
            `RA ${position.raDeg.toFixed(4)}°, Dec ${withMinus(position.decDeg.toFixed(4))}°; azimuth ${(header.azimuthDeg ?? 0).toFixed(2)}°, zenith angle ${(header.zenithAngleDeg ?? 0).toFixed(2)}° at the start`,
          ),
        ]
      : []),
    line(
      'numbers',
      `mean ${number(spectrum.mean)}, ${number(spectrum.least)} to ${number(spectrum.most)} in the ${spectrum.values === values ? 'whole file' : `first ${spectrum.values} values`}`,
    ),
    ...(spectrum.notFinite > 0 ? [line('warning', `${spectrum.notFinite} numbers are not finite`)] : []),
    ...(leftOverBytes > 0
      ? [
          line(
            'warning',
            `ends within a value: ${leftOverBytes} bytes are left over; corella recover cuts them off`,
          ),
        ]
      : []),
  ];
}
