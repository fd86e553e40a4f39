/** The pixels of any FITS image as floats, one plane at a time: cubes, time series, channels and Stokes parameters. */
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { openOn } from '../io/input.js';
import { readUnit } from './fits.js';

interface FitsPlanes extends Closable {
  readonly width: number;
  readonly height: number;
  /** Names and lengths of the axes beyond the first two, slowest first. */
  readonly axes: readonly { readonly name: string; readonly size: number }[];
  /** plane : [row][column] as in the file, one for each index of the other axes. */
  planes(): AsyncIterable<Float64Array>;
}

const MOST_PIXELS = 2 ** 28;

export const openFitsPlanes = (path: string): Promise<FitsPlanes> =>
  openOn(path, async (file) => {
    const unit = (await readUnit(file, 0)) ?? refuse(path, 'the file is empty', 'write it again');
    const { header, dataStart, dataBytes } = unit;
    const bytesEach = -header.real('BITPIX') / 8;
    if (bytesEach !== 4 && bytesEach !== 8)
      refuse(
        path,
        `its pixels are of BITPIX ${header.real('BITPIX')}`,
        'images in floats are read: −32 or −64',
      );
    const width = header.whole('NAXIS1', 1, MOST_PIXELS);
    const height = header.whole('NAXIS2', 1, MOST_PIXELS);
    if (width * height > MOST_PIXELS)
      refuse(path, `its planes have ${width} × ${height} pixels`, 'it is damaged');
    const missingBytes = dataStart + dataBytes - file.sizeBytes;
    if (missingBytes > 0) refuse(path, `truncated: ${missingBytes} bytes are missing`, 'copy it again');
    const axes = Array.from({ length: header.real('NAXIS') - 2 }, (_, k) => ({
      name: header.text(`CTYPE${k + 3}`, `axis ${k + 3}`).toLowerCase(),
      size: header.whole(`NAXIS${k + 3}`, 0, 2 ** 40),
    })).reverse();
    const planeBytes = width * height * bytesEach;
    return {
      width,
      height,
      axes,
      planes: async function* () {
        const bytes = new DataView(new ArrayBuffer(planeBytes));
        for (let at = 0; at < dataBytes; at += planeBytes) {
          await file.readExactly(new Uint8Array(bytes.buffer), dataStart + at);
          yield Float64Array.from({ length: width * height }, (_, k) =>
            bytesEach === 4 ? bytes.getFloat32(4 * k) : bytes.getFloat64(8 * k),
          );
        }
      },
      close: () => file.close(),
    };
  });
