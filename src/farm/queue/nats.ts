/** The NATS client, loaded on first use: half a megabyte of code that most commands never need. */
import { createRequire } from 'node:module';
import type * as JetStream from '@nats-io/jetstream';
import type * as Transport from '@nats-io/transport-node';

// Node caches modules: loading again costs nothing.
const load = createRequire(import.meta.url);

export const nats = (): typeof Transport => load('@nats-io/transport-node') as typeof Transport;
export const jetStreams = (): typeof JetStream => load('@nats-io/jetstream') as typeof JetStream;
