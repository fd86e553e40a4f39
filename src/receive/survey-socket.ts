/**
 * The socket of a run, opened before its packets are known. The first packets are surveyed and the ring continues with
 * the same socket, so that one account holds every datagram.
 */
import type { Socket } from 'node:dgram';
import { loadNative } from '../backend/cpu/library.js';
import type { Closable } from '../core/closing.js';
import { kernelDropsAt, openSocket } from './dgram-socket.js';
import { planListening, type ListenSettings, type SurveyLimits } from './listen.js';
import { NativeSocket } from './native/socket.js';

export type SurveySocket = NativeSocket | NodeSocket;

export interface ListenOrigin extends ListenSettings {
  /** Opened earlier; the ring closes it. */
  readonly socket?: SurveySocket;
}

/** Enough for a survey: the overflow is counted. */
const SURVEY_BUFFER_BYTES = 2 ** 24;

/** Where the native ring can listen: on Linux, with the library. */
export const canListenNatively = (): boolean => process.platform === 'linux' && !('what' in loadNative());

export async function openSurveySocket(
  settings: ListenSettings,
  by: 'native' | 'node' = canListenNatively() ? 'native' : 'node',
): Promise<SurveySocket> {
  const asked = { receiveBufferBytes: SURVEY_BUFFER_BYTES, ...settings };
  return by === 'native' ? new NativeSocket(asked) : new NodeSocket(await openSocket(planListening(asked)));
}

class NodeSocket implements Closable {
  readonly by = 'node';
  surveyed = 0;
  firstNs: bigint | undefined;
  private kept: Uint8Array[] = [];
  private wanted = 0;
  private onEnough: () => void = () => undefined;
  private isOurs = true;

  constructor(private readonly socket: Socket) {
    socket.on('message', this.count);
  }

  get port(): number {
    return this.socket.address().port;
  }

  private readonly count = (datagram: Uint8Array): void => {
    this.surveyed++;
    this.firstNs ??= process.hrtime.bigint();
    if (this.kept.length >= this.wanted) return;
    this.kept.push(Uint8Array.from(datagram));
    if (this.kept.length === this.wanted) this.onEnough();
  };

  /** Reads the requested number of datagrams, or as many as arrive in the time. */
  async survey({ datagrams, seconds }: SurveyLimits): Promise<Uint8Array[]> {
    this.wanted = datagrams;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, seconds * 1000);
      this.onEnough = () => {
        clearTimeout(timer);
        resolve();
      };
      this.socket.once('error', reject);
    });
    const { kept } = this;
    [this.kept, this.wanted] = [[], 0];
    this.socket.removeAllListeners('error');
    return kept;
  }

  /** The ring owns the socket from here on; earlier kernel drops belong to the survey. */
  handOver(): { readonly socket: Socket; readonly dropped: number } {
    this.socket.off('message', this.count);
    this.isOurs = false;
    return { socket: this.socket, dropped: kernelDropsAt(this.port) ?? 0 };
  }

  close(): Promise<void> {
    if (this.isOurs) this.socket.close();
    this.isOurs = false;
    return Promise.resolve();
  }
}
