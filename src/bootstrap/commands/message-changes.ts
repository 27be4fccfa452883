import { CHANNELS } from '../../domain/shared/channel.ts';

/** What `GET /sms/track/{smsId}` replies of a message, as far as its changes are shown. */
export interface TrackedMessage {
  readonly status: string;
  readonly isFinalStatus: boolean;
  readonly cost: number;
  readonly channelFlow: readonly TrackedChannel[];
}

interface TrackedChannel {
  readonly channel: string;
  readonly tried: boolean;
  readonly success?: boolean;
}

const NAME_WIDTH = Math.max(...CHANNELS.map(({ length }) => length));

/** A line for each channel that changed, and one for the status. `before` is null for the first reading. */
export function changesBetween(before: TrackedMessage | null, after: TrackedMessage): readonly string[] {
  const channels = after.channelFlow.flatMap((flow, index) => {
    const word = wordOf(flow);
    const earlier = before?.channelFlow[index];
    const isSame = earlier === undefined ? !flow.tried : wordOf(earlier) === word;
    return isSame ? [] : [`${flow.channel.padEnd(NAME_WIDTH)}  ${word}`];
  });
  if (before?.status === after.status && before.isFinalStatus === after.isFinalStatus) return channels;
  const money = after.status === 'failed' ? `${after.cost} IQD released` : `${after.cost} IQD`;
  const end = after.isFinalStatus ? `, final, ${money}` : '';
  return [...channels, `${'message'.padEnd(NAME_WIDTH)}  ${after.status}${end}`];
}

function wordOf({ tried, success }: TrackedChannel): string {
  if (!tried) return 'waits';
  return success === true ? 'took it' : 'did not deliver it';
}
