/** Whether two workers made the same of a job. */
import { canonicalJson } from '../observation/index.js';
import type { FarmShape } from './job.js';
import { bytesOf, floatsOf, SUMS, type Part, type Result } from './result.js';

/** Of images, between machines that compute differently: of the peak. */
const IMAGE_TOLERANCE = 1e-5;
/** Of other floats: of the largest. */
const FLOAT_TOLERANCE = 1e-6;

/** Whole numbers bit for bit; floats too between machines that compute alike, else to rounding. */
export function isAlike({ type, pieces }: FarmShape, x: Result, y: Result): boolean {
  if (canonicalJson(x.head.parts) !== canonicalJson(y.head.parts)) return false;
  if (canonicalJson(x.head.account) !== canonicalJson(y.head.account)) return false;
  const isOneKind = x.head.backend === y.head.backend && x.head.machine === y.head.machine;
  return x.head.parts.every((part) => {
    const [a, b] = [x, y].map(({ body }) =>
      body.subarray(part.offsetBytes, part.offsetBytes + part.sizeBytes),
    );
    if (Buffer.compare(bytesOf(a), bytesOf(b)) === 0) return true;
    const isImage = pieces.some(({ product, kind }) => product === part.product && kind === 'images');
    if (isOneKind || (!isImage && type !== 'cf32')) return false;
    return areNear(part, x, y, isImage ? IMAGE_TOLERANCE : FLOAT_TOLERANCE);
  });
}

function areNear(part: Part, x: Result, y: Result, tolerance: number): boolean {
  const [a, b] = [x, y].map(({ body }) => numbersOf(part, body));
  let most = 0;
  for (const value of a) most = Math.max(most, Math.abs(value));
  for (let n = 0; n < a.length; n++) if (!(Math.abs(a[n] - b[n]) <= tolerance * most)) return false;
  return true;
}

/** Sums and images are float64, spectra of floats float32. */
const numbersOf = (
  { product, image, offsetBytes, sizeBytes }: Part,
  body: Uint8Array,
): Float64Array | Float32Array =>
  product === SUMS || image
    ? floatsOf(body, offsetBytes, sizeBytes / 8)
    : new Float32Array(Uint8Array.prototype.slice.call(body, offsetBytes, offsetBytes + sizeBytes).buffer);
