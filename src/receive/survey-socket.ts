/** The first datagrams that come to a socket: what a plan is guessed from before the night begins. */
import { openSocket } from './from-dgram.js';
import { planListening, type ListenSettings } from './listen.js';

export interface SurveyLimits {
  readonly datagrams: number;
  readonly seconds: number;
}

/** As many as asked for, or as many as come in the time. */
export async function surveySocket(settings: ListenSettings, limits: SurveyLimits): Promise<Uint8Array[]> {
  const socket = await openSocket(planListening(settings));
  const datagrams: Uint8Array[] = [];
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, limits.seconds * 1000);
    socket.on('message', (datagram) => {
      datagrams.push(Uint8Array.from(datagram));
      if (datagrams.length < limits.datagrams) return;
      clearTimeout(timer);
      resolve();
    });
    socket.once('error', reject);
  }).finally(() => {
    socket.close();
  });
  return datagrams.slice(0, limits.datagrams);
}
