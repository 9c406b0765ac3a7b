/** An open request as a person reads it here: what a command would do is worked out by this very program. */
import { previewHere } from '../../approval/preview-here.ts';
import { type RequestView, describeRequest } from '../../approval/render/index.ts';
import type { OpenRequest } from '../../client/index.ts';

export async function viewOf(open: OpenRequest): Promise<RequestView> {
  const preview = await previewHere(open);
  const { route, collected } = open;
  return describeRequest(open, {
    route,
    now: Date.now(),
    ...(preview && { preview }),
    ...(collected && { collected }),
  });
}
