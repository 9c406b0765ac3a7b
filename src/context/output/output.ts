/**
 * The one truncation: what a tool hands back → what goes to the model, to people and into history. The serialised result stays below 62 KB
 * whatever comes in: output 16 KB, image data 24 KB beside it, display 16 KB, artifacts 4 KB.
 */
import type { Json, JsonObject } from '../../protocol/json.ts';
import { isJsonObject } from '../../protocol/json.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Artifact, ToolResult } from '../../protocol/outcome.ts';
import type { ToolOutput } from '../../tools/define-tool.ts';
import type { Artifacts } from '../../tools/tool-context.ts';
import { cutText, jsonBytes } from './cut-text.ts';

const ARTIFACT_BYTES = 4 * 1024;
/** Strings shorter than this are structure: a path, a hash, a note. */
const CUTTABLE = 512;

/** The suffix that tells a model that text was cut. */
export const truncationSuffix = (bytes: number): string => `[output truncated — original size: ${bytes} bytes]`;

/** Cuts to the limits; what is cut is kept whole as an artifact, and the output says under which hash. */
export async function fitResult(output: ToolOutput, artifacts: Pick<Artifacts, 'put'>): Promise<ToolResult> {
  const kept: Artifact[] = [];
  const put = async (bytes: Uint8Array, mediaType: string, name: string): Promise<Artifact> => {
    const artifact = await artifacts.put(bytes, { mediaType, name });
    kept.push(artifact);
    return artifact;
  };
  const pictures = new Pictures();
  const bare = await pictures.take(output.output, put);
  const fitted = pictures.giveBack(await fitOutput(bare, put));
  const result: ToolResult = { output: fitted };
  if (output.display !== undefined)
    result.display = cutText(output.display, LIMITS.displayBytes, {
      tail: true,
      mark: truncationSuffix(Buffer.byteLength(output.display)),
    });
  const named = fitArtifacts([...kept, ...(output.artifacts ?? [])]);
  if (named.length > 0) result.artifacts = named;
  return result;
}

type Put = (bytes: Uint8Array, mediaType: string, name: string) => Promise<Artifact>;

async function fitOutput(output: Json, put: Put): Promise<Json> {
  const limit = LIMITS.modelOutputBytes;
  const size = jsonBytes(output, limit);
  if (size <= limit) return output;
  if (typeof output === 'string') return cutString(output, '', limit, put);
  const long = longStrings(output);
  const rest = jsonBytes(
    withStrings(
      output,
      long.map(() => ''),
    ),
    limit,
  );
  // Room for the hashes that the output will name.
  const room = limit - rest - 2 - long.length * 300;
  if (long.length > 0 && isJsonObject(output) && room >= long.length * CUTTABLE)
    return cutStrings(output, long, room, put);
  return cutString(printed(output), 'output', limit, put, 'application/json');
}

/** JavaScript's strings end at half a gigabyte, and control characters take six bytes in JSON. */
function printed(output: Json): string {
  try {
    return JSON.stringify(output, null, 1);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(
      withStrings(
        output,
        longStrings(output).map(({ text }) => text.slice(0, 10_000)),
      ),
      null,
      1,
    ).slice(0, 50_000_000);
  }
}

/** A text that is the whole output: head and tail, where to read the rest, the suffix. */
async function cutString(
  text: string,
  name: string,
  limit: number,
  put: Put,
  mediaType = 'text/plain',
): Promise<string> {
  const bytes = Buffer.from(text);
  const { hash } = await put(bytes, mediaType, name === '' ? 'full output' : name);
  return cutText(text, limit, {
    tail: true,
    mark: `[the whole: read with artifact "${hash}"]\n${truncationSuffix(bytes.length)}`,
  });
}

interface LongString {
  /** JSON pointer without escapes, for people: `stdout`, `matches.3.text`. */
  name: string;
  text: string;
  bytes: number;
}

function longStrings(output: Json): LongString[] {
  const found: LongString[] = [];
  const visit = (value: Json, name: string): void => {
    if (typeof value === 'string') {
      if (value.length >= CUTTABLE) found.push({ name, text: value, bytes: jsonBytes(value, LIMITS.modelOutputBytes) });
    } else if (Array.isArray(value)) value.forEach((item, i) => visit(item, name === '' ? String(i) : `${name}.${i}`));
    else if (isJsonObject(value))
      for (const [key, item] of Object.entries(value)) visit(item, name === '' ? key : `${name}.${key}`);
  };
  visit(output, '');
  return found;
}

/** Keeps the structure and cuts its long strings to equal shares; what a short one leaves over goes to the others. */
async function cutStrings(output: JsonObject, long: readonly LongString[], room: number, put: Put): Promise<Json> {
  const share = fairShare(
    long.map(({ bytes }) => bytes),
    room,
  );
  const texts: string[] = [];
  const truncated: JsonObject = {};
  for (const { name, text, bytes } of long) {
    if (bytes <= share) {
      texts.push(text);
      continue;
    }
    const whole = Buffer.from(text);
    const { hash } = await put(whole, 'text/plain', name.slice(0, 100));
    truncated[name.slice(0, 100)] = hash;
    texts.push(cutText(text, share, { tail: true, mark: truncationSuffix(whole.length) }));
  }
  return {
    ...(withStrings(output, texts) as JsonObject),
    truncated: { ...truncated, note: 'read with "artifact" and one of these hashes pages the whole' },
  };
}

/** The greatest size that all may have so that together they fit. */
function fairShare(sizes: readonly number[], room: number): number {
  let left = room;
  let count = sizes.length;
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size > left / count) break;
    left -= size;
    count -= 1;
  }
  return count === 0 ? room : Math.floor(left / count);
}

/** The same structure with its long strings replaced, in the order of longStrings. */
function withStrings(output: Json, texts: readonly string[]): Json {
  let next = 0;
  const visit = (value: Json): Json => {
    if (typeof value === 'string') return value.length >= CUTTABLE ? (texts[next++] ?? '') : value;
    if (Array.isArray(value)) return value.map(visit);
    return isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item)]))
      : value;
  };
  return visit(output);
}

/** Images apart from the text: small ones are inlined beside its limit, one after the other while there is room; others become artifacts. */
class Pictures {
  #inlined: string[] = [];
  #room: number = LIMITS.inlineImageBytes;

  async take(value: Json, put: Put): Promise<Json> {
    if (Array.isArray(value)) {
      const items: Json[] = [];
      for (const item of value) items.push(await this.take(item, put));
      return items;
    }
    if (!isJsonObject(value)) return value;
    if (isImage(value)) return this.#takeImage(value, put);
    const result: JsonObject = {};
    for (const [key, item] of Object.entries(value)) result[key] = await this.take(item, put);
    return result;
  }

  giveBack(value: Json): Json {
    if (this.#inlined.length === 0) return value;
    if (Array.isArray(value)) return value.map((item) => this.giveBack(item));
    if (!isJsonObject(value)) return value;
    if (isImage(value)) return { ...value, data: this.#inlined[Number(value.data)] ?? '' };
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.giveBack(item)]));
  }

  async #takeImage(image: Image, put: Put): Promise<Json> {
    if (image.data.length <= this.#room && /^[A-Za-z0-9+/=]*$/.test(image.data)) {
      this.#room -= image.data.length;
      this.#inlined.push(image.data);
      return { type: 'image', mediaType: image.mediaType.slice(0, 100), data: String(this.#inlined.length - 1) };
    }
    const bytes = Buffer.from(image.data, 'base64');
    const { hash } = await put(bytes, image.mediaType.slice(0, 100), 'image');
    return { type: 'image', mediaType: image.mediaType.slice(0, 100), artifact: hash, bytes: bytes.length };
  }
}

type Image = JsonObject & { type: 'image'; mediaType: string; data: string };

const isImage = (value: JsonObject): value is Image =>
  value['type'] === 'image' && typeof value['mediaType'] === 'string' && typeof value['data'] === 'string';

/** As many as fit, ours first: those that the output names. */
function fitArtifacts(artifacts: readonly Artifact[]): Artifact[] {
  const result: Artifact[] = [];
  let room = ARTIFACT_BYTES - 2;
  for (const artifact of artifacts) {
    room -= jsonBytes({ ...artifact }, ARTIFACT_BYTES) + 1;
    if (room < 0) break;
    result.push(artifact);
  }
  return result;
}
