/** One WebSocket for the page: text is JSON, binary is numbers after a head. Keeps the newest of each topic. */
import type {
  Alarm,
  AntennaRow,
  Ask,
  BeamsHead,
  ChainView,
  FringesView,
  GainsView,
  Head,
  JournalEntry,
  MachineRow,
  ObservationView,
  PlanView,
  MethodsHead,
  SendersView,
  SkyHead,
  Status,
  Topic,
} from '../serve/messages.js';
import { token } from './token.js';

export interface Numbers<H extends Head = Head> {
  readonly head: H;
  readonly values: Float32Array;
}
interface TimedHead extends Head {
  readonly time: string;
}
interface PairHead extends TimedHead {
  readonly pair: readonly [number, number];
}
/** Message type of each topic. */
export interface Payload extends Record<Topic, unknown> {
  readonly status: Status;
  readonly plan: PlanView;
  readonly sky: Numbers<SkyHead>;
  readonly sources: SendersView;
  readonly antennas: readonly AntennaRow[];
  readonly bandpass: Numbers<TimedHead>;
  readonly beams: Numbers<BeamsHead>;
  readonly baseline: Numbers<PairHead>;
  readonly fringes: FringesView;
  readonly gains: GainsView;
  readonly chain: ChainView;
  readonly observation: ObservationView;
  readonly alarms: readonly Alarm[];
  readonly journal: readonly JournalEntry[];
  readonly methods: Numbers<MethodsHead>;
  readonly machines: readonly MachineRow[];
}
type Listener = (value: unknown) => void;

const listeners = new Map<Topic, Set<Listener>>();
const latest = new Map<Topic, unknown>();
let socket: WebSocket | undefined;
let receivedAtMs = -Infinity;
let isRefused = false;
const RETRY_MS = 700;

/** Time since the last message. The server sends one every second. */
export const silenceMs = (): number => performance.now() - receivedAtMs;
export const isConnected = (): boolean => socket?.readyState === WebSocket.OPEN;
/** Whether the server requires a token even for reading. */
export const wantsToken = (): boolean => isRefused;

const say = (ask: Ask): void => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(ask));
};

/** Calls back with the current value, and with every change. */
export function listen<T extends Topic>(topic: T, listener: (value: Payload[T]) => void): () => void {
  const set = listeners.get(topic) ?? new Set();
  const isNew = set.size === 0;
  listeners.set(topic, set);
  set.add(listener as Listener);
  const known = latest.get(topic);
  if (known !== undefined) (listener as Listener)(known);
  if (isNew) say({ subscribe: [topic] });
  return () => {
    set.delete(listener as Listener);
    if (set.size > 0) return;
    listeners.delete(topic);
    latest.delete(topic);
    say({ unsubscribe: [topic] });
  };
}

/** Sets the baseline of the waterfall. */
export const askPair = (pair: readonly [number, number]): void => {
  say({ pair });
};

function publish(topic: Topic, value: unknown): void {
  latest.set(topic, value);
  for (const listener of listeners.get(topic) ?? []) listener(value);
}

export function decode(data: ArrayBuffer): Numbers {
  const length = new DataView(data).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, length))) as Head;
  return { head, values: new Float32Array(data, 8 + 8 * Math.ceil(length / 8)) };
}

export function open(): void {
  const known = token();
  const protocols = ['corella', ...(known === undefined ? [] : [`token.${known}`])];
  const next = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/live`, protocols);
  socket = next;
  next.binaryType = 'arraybuffer';
  let wasOpen = false;
  next.onopen = () => {
    wasOpen = true;
    isRefused = false;
    say({ subscribe: [...listeners.keys()] });
  };
  next.onclose = () => {
    if (socket !== next) return;
    // A browser does not report why a socket was refused; the API does.
    if (!wasOpen)
      void fetch('/api/v1/status').then(
        ({ status }) => (isRefused = status === 401),
        () => undefined,
      );
    setTimeout(open, RETRY_MS);
  };
  next.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    receivedAtMs = performance.now();
    if (typeof data === 'string') {
      const { topic, value } = JSON.parse(data) as { topic: Topic; value: unknown };
      publish(topic, value);
    } else {
      const numbers = decode(data);
      publish(numbers.head.topic as Topic, numbers);
    }
  };
}

/** Reconnects with another token. */
export function reopen(): void {
  const old = socket;
  open();
  old?.close();
}
