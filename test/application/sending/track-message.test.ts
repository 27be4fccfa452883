import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Rejected } from '../../../src/application/errors/rejected.ts';
import { TrackMessage } from '../../../src/application/sending/track-message.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aMessage, anSmsId, aProject } from '../../support/builders.ts';

describe('TrackMessage', () => {
  let world: ApplicationWorld;
  let trackMessage: TrackMessage;

  beforeEach(async () => {
    world = await openApplication();
    trackMessage = world.container.get(TrackMessage);
    await world.unitOfWork.run(({ messages }) => messages.insert([aMessage()]));
  });

  afterEach(() => world.close());

  it('TrackMessage gives a project its own message', async () => {
    expect(await trackMessage.execute(aProject(), anSmsId())).toEqual(aMessage());
  });

  it.each([
    ['of another project', aProject({ id: '664abc000000000000000002' }), anSmsId()],
    ['that was never sent', aProject(), anSmsId(2)],
    ['that is no smsId', aProject(), `${anSmsId()}0`],
  ])('TrackMessage rejects a message %s as not found', async (_, project, smsId) => {
    await expect(trackMessage.execute(project, smsId)).rejects.toThrow(
      new Rejected({ kind: 'message-not-found' }),
    );
  });

  it('TrackMessage does not ask the database for what is no smsId', async () => {
    const closed = new TrackMessage({
      unitOfWork: { ...world.unitOfWork, read: () => Promise.reject(new Error('asked')) } as never,
    });
    await expect(closed.execute(aProject(), 'sms-1')).rejects.toThrow('message-not-found');
    await expect(closed.execute(aProject(), anSmsId())).rejects.toThrow('asked');
  });
});
