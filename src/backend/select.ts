/** Which backends this machine offers, and opening one of them. */
import { backendKinds, type BackendChoice, type BackendKind } from '../core/backend-kinds.js';
import { refuse } from '../core/errors.js';
import type { Backend } from './backend.js';
import { openCpu, type CpuOptions } from './cpu/cpu.js';
import { isaTitles } from './cpu/levels.js';
import { loadNative } from './cpu/library.js';
import { describeCuda, openCuda, type CudaOptions, type Presence } from './cuda/cuda.js';
import { openReference } from './reference.js';

interface BackendSettings extends CpuOptions {
  readonly cuda?: CudaOptions;
}

export type Device = {
  readonly kind: BackendKind;
  /** Whether `auto` chooses this one. */
  readonly auto: boolean;
} & Presence;

/** Fastest first: `auto` chooses the first one present. */
export function describeDevices(): Device[] {
  const found = [...backendKinds].reverse().map((kind) => ({ kind, ...presenceOf[kind]() }));
  const best = found.findIndex((device) => device.present);
  return found.map((device, at) => ({ ...device, auto: at === best }));
}

const presenceOf = {
  reference: () => ({ present: true, description: openReference().description }),
  cpu: describeCpu,
  cuda: describeCuda,
} satisfies Record<BackendKind, () => Presence>;

function describeCpu(): Presence {
  const library = loadNative();
  if ('what' in library) return { present: false, reason: library.what, fix: library.fix };
  const cores = `${library.cores} ${library.cores === 1 ? 'core' : 'cores'}`;
  const levels = library.levels.join(', ');
  const description = `${isaTitles[library.best]} on ${cores} (levels ${levels}; built by ${library.compiler})`;
  return { present: true, description };
}

/** The reason for the choice of `auto`, in a sentence. */
export function explainAuto(devices: readonly Device[] = describeDevices()): string {
  const taken = devices.find((device) => device.auto);
  if (taken?.present !== true) return 'auto finds no backend';
  const passed = devices
    .slice(0, devices.indexOf(taken))
    .flatMap((device) => (device.present ? [] : [`'${device.kind}' is absent: ${device.reason}`]));
  return [`auto takes '${taken.kind}', the fastest present`, ...passed].join('; ');
}

/** Opens the requested backend, or with `auto` the fastest one present; close it afterwards. */
export async function openBackend(choice: BackendChoice, settings: BackendSettings = {}): Promise<Backend> {
  switch (choice) {
    case 'auto': {
      const taken = describeDevices().find((device) => device.auto);
      // Threads only apply to backends that have them.
      return taken?.kind === 'cuda'
        ? openCuda(settings.cuda)
        : taken?.kind === 'cpu'
          ? openCpu(settings)
          : openReference();
    }
    case 'reference':
      if ((settings.threads ?? 1) > 1)
        refuse('reference', `has one thread, not ${settings.threads}`, "choose backend 'cpu'");
      return openReference();
    case 'cpu':
      return openCpu(settings);
    case 'cuda':
      if (settings.threads !== undefined)
        refuse(
          'cuda',
          "threads are the processor's, not a card's",
          "leave them out, or choose backend 'cpu'",
        );
      return openCuda(settings.cuda);
  }
}
