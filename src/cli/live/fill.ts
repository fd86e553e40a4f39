/** Makes the observation from the flags of corella live. */
import { refuse } from '../../core/errors.js';
import { isFifo, isStreamName } from '../../live/index.js';
import { checkObservation, type Observation } from '../../observation/index.js';
import type { Flags, GivenFields } from '../../observation/flags.js';

type Given = Readonly<Record<string, unknown>>;

export async function fillObservation(
  origins: readonly string[],
  flags: Flags,
  eop: string | undefined,
): Promise<Observation> {
  const given = flags.given();
  const { observation } = given;
  return checkObservation(
    {
      corella: 1,
      ...observation,
      source: await sourceOf(origins, (observation.source ?? {}) as Given),
      ...(eop !== undefined && { eop }),
      products: productsOf(given, flags),
    },
    'live',
  );
}

/** Samples come from one source only. */
async function sourceOf(origins: readonly string[], given: Given): Promise<Given> {
  const { capture, listen } = given;
  const ways = [origins.length > 0, capture !== undefined, listen !== undefined].filter(Boolean).length;
  if (ways !== 1)
    refuse(
      'live',
      ways === 0 ? 'no source of samples is given' : 'several sources of samples are given',
      'give -, tcp://host:port, kraken:host or a recording; or --from capture.pcap; or --listen port',
    );
  if (origins.length === 0) return given;
  const isStream = await Promise.all(origins.map(async (one) => isStreamName(one) || (await isFifo(one))));
  if (isStream.every(Boolean)) return { ...given, stream: origins };
  if (origins.length > 1) refuse('live', 'several recordings', 'give one, or several streams');
  const [path] = origins;
  if (/\.pcap(?:ng)?$/i.test(path)) refuse(path, 'is a capture of packets', `name it with --from ${path}`);
  for (const name of ['format', 'epoch'])
    if (given[name] !== undefined) refuse(`--${name}`, 'is for packets', 'leave it out');
  for (const name of ['meta', 'sample-type', 'inputs', 'polarisations'])
    if (given[name] !== undefined)
      refuse(
        `--${name}`,
        `is for streams, and ${path} is a recording, which states it itself`,
        'leave it out',
      );
  return { ...given, recording: path };
}

function productsOf({ observation, products }: GivenFields, flags: Flags): Given[] {
  const { visibilities = {}, images = {} } = products as Readonly<Record<string, Given | undefined>>;
  const isWritten = visibilities.visibilities !== undefined;
  const isImaged = images.every !== undefined;
  if (!isWritten && !isImaged)
    refuse('live', 'no product is asked for', 'give -o for visibilities, --image for pictures, or both');
  const isDirect = images.method === 'direct';
  refuseIdle({ visibilities, images, gains: (observation.gains ?? {}) as Given }, flags);
  const { 'van-vleck': vanVleck, channels, align, ...others } = visibilities;
  return [
    // Integrations of a requested length are shown on the page, written or not.
    ...(isWritten || others.integration !== undefined ? [{ visibilities: null, ...visibilities }] : []),
    ...(isImaged
      ? [
          {
            images: 'live.png',
            ...images,
            ...(align !== undefined && { align }),
            ...(channels !== undefined && { channels }),
            ...(vanVleck !== undefined && !isDirect && { 'van-vleck': vanVleck }),
          },
        ]
      : []),
  ];
}

/** Refuses flags that would have no effect. */
function refuseIdle(
  { visibilities, images, gains }: Readonly<Record<'visibilities' | 'images' | 'gains', Given>>,
  { flagOf }: Flags,
): void {
  const idle = (fields: readonly string[], part: Given, at: string, why: string): void => {
    const name = fields.find((one) => part[one] !== undefined);
    if (name !== undefined) refuse(flagOf(`${at}.${name}`) ?? `${at}.${name}`, why, 'leave it out');
  };
  if (images.every === undefined) {
    const why = 'is for pictures, of which none are made without --image';
    idle(['images', 'method', 'pixels', 'field', 'kernel', 'weights'], images, 'products.images', why);
    idle(['file'], gains, 'gains', why);
  }
  if (visibilities.visibilities === undefined) {
    const why = 'is for files, of which none are written without -o';
    idle(['values', 'file-every'], visibilities, 'products.visibilities', why);
    if (images.method === 'direct')
      idle(
        ['van-vleck'],
        visibilities,
        'products.visibilities',
        'is for visibilities, and --direct makes none of them',
      );
  }
}
