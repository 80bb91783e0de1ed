"""Puts, reads and deletes objects of a table with botocore's default checksums, over https: by the keys that the catalog gives, or by its
signatures. Arguments: catalog URL, token, catalog, schema, table, store URL, its authority, way."""

import io
import json
import sys
import urllib.request

import botocore.session
from botocore import UNSIGNED
from botocore.config import Config
from pyiceberg.io.fsspec import S3V4RestSigner

url, token, catalog, schema, table, store, authority, way = sys.argv[1:9]
path = f"{url}/v1/{catalog}/namespaces/{schema}/tables/{table}"
headers = {"Authorization": f"Bearer {token}", "X-Iceberg-Access-Delegation": way}
with urllib.request.urlopen(urllib.request.Request(path, headers=headers)) as answer:
    loaded = json.load(answer)
config = loaded["config"]
bucket, folder = loaded["metadata"]["location"].removeprefix("s3://").split("/", 1)
signed = way == "remote-signing"
keys = {} if signed else {
    "aws_access_key_id": config["s3.access-key-id"],
    "aws_secret_access_key": config["s3.secret-access-key"],
    "aws_session_token": config["s3.session-token"],
}
client = botocore.session.get_session().create_client(
    "s3",
    region_name=config["s3.region"],
    endpoint_url=store,
    verify=authority,
    config=Config(s3={"addressing_style": "path"}, **({"signature_version": UNSIGNED} if signed else {})),
    **keys,
)
if signed:
    signer = S3V4RestSigner({"uri": url, "token": token, **config})
    client.meta.events.register_last("before-sign.s3", signer, unique_id=1925)
sent = []
client.meta.events.register("before-send.s3", lambda request, **_: sent.append(dict(request.headers)) and None)


def text(value):
    return value.decode() if isinstance(value, bytes) else value


seen = {}
body = b"some bytes" * 10_000
for name, more in {"default": {}, "sha256": {"ChecksumAlgorithm": "SHA256"}}.items():
    key = f"{folder}/data/{name}"
    client.put_object(Bucket=bucket, Key=key, Body=io.BytesIO(body), **more)
    seen[name] = [text(sent[-1].get("X-Amz-Trailer", sent[-1].get("x-amz-trailer")))]
    got = client.get_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
    seen[name] += [got["Body"].read() == body, f"Checksum{name.upper()}" in got or "ChecksumCRC32" in got]
key = f"{folder}/data/parts"
upload = client.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
part = client.upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=1, Body=io.BytesIO(body))
parts = [{"PartNumber": 1, **{name: value for name, value in part.items() if name == "ETag" or name.startswith("ChecksumCRC")}}]
client.complete_multipart_upload(Bucket=bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": parts})
seen["parts"] = client.get_object(Bucket=bucket, Key=key)["Body"].read() == body
if not signed:
    # PyIceberg's signer sends no body, without which a deletion of many is not signed.
    objects = [{"Key": f"{folder}/data/{name}"} for name in ("default", "sha256", "parts")]
    seen["deleted"] = len(client.delete_objects(Bucket=bucket, Delete={"Objects": objects})["Deleted"])
print(json.dumps(seen))
