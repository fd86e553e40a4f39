/** Summary of a file's contents, with the same words for every format. */
import { isComplexVoltage } from '../core/axes.js';
import type { Instant } from '../core/instant.js';
import type { EndsEarly, OpenedFile, Recording, UnknownFact } from '../formats/index.js';
import type { SkyPosition } from '../sky/frame.js';
import type { Site } from '../telescope/telescope.js';
import { bitsOf } from './voltages.js';

export interface FileDescription {
  readonly path: string;
  readonly format: string;
  readonly kind: OpenedFile['kind'];
  readonly unknownFacts?: readonly UnknownFact[];
  readonly telescope?: {
    readonly name: string;
    readonly title: string;
    readonly site: Site;
    readonly stations: readonly string[];
  };
  readonly stations: number;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  readonly type?: string;
  /** Bits per number as recorded. */
  readonly bits?: number;
  readonly samples?: number;
  readonly rateHz?: number;
  readonly channels?: number;
  readonly channelWidthHz?: number;
  readonly lowestHz: number;
  readonly highestHz: number;
  readonly assumed?: readonly string[];
  readonly endsEarly?: EndsEarly;
  readonly start?: Instant;
  readonly durationS?: number;
  readonly integrations?: number;
  readonly phaseCentre?: SkyPosition;
  readonly object?: string;
}

const named = (file: OpenedFile) => ({
  path: file.path,
  format: file.format,
  kind: file.kind,
  ...(file.telescope === undefined
    ? {}
    : {
        telescope: {
          name: file.telescope.name,
          title: file.telescope.title,
          site: file.telescope.site,
          stations: file.telescope.stations.map(({ name }) => name),
        },
      }),
});

const recorded = (file: Recording) => ({
  ...named(file),
  stations: file.inputs / file.polarisations,
  inputs: file.inputs,
  polarisations: file.polarisations,
  type: file.type,
  bits: bitsOf(file),
  samples: file.samples,
  unknownFacts: file.unknownFacts,
  assumed: file.assumed,
  endsEarly: file.endsEarly,
  start: file.start,
});

export function describeFile(file: OpenedFile): FileDescription {
  switch (file.kind) {
    case 'voltages': {
      const halfHz = isComplexVoltage(file.type) ? file.sampleRateHz / 2 : file.sampleRateHz / 4;
      return {
        ...recorded(file),
        rateHz: file.sampleRateHz,
        lowestHz: file.centreFrequencyHz - halfHz,
        highestHz: file.centreFrequencyHz + halfHz,
        durationS: file.samples / file.sampleRateHz,
      };
    }
    case 'spectra':
      return {
        ...recorded(file),
        rateHz: file.spectrumRateHz,
        channels: file.channels,
        channelWidthHz: file.channelWidthHz,
        lowestHz: file.frequenciesHz[0],
        highestHz: file.frequenciesHz[file.channels - 1],
        durationS: file.samples / file.spectrumRateHz,
      };
    case 'visibilities': {
      const { frequenciesHz, polarisations, channelWidthHz, phaseCentre, object } = file.header;
      const stations = file.telescope.stations.length;
      return {
        ...named(file),
        stations,
        inputs: stations * polarisations,
        polarisations,
        channels: frequenciesHz.length,
        channelWidthHz,
        lowestHz: frequenciesHz[0],
        highestHz: frequenciesHz[frequenciesHz.length - 1],
        integrations: file.integrationCount,
        phaseCentre,
        object,
      };
    }
  }
}
