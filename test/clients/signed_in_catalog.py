"""Keeps a catalog open with a credential, and uses it until the time is up. Arguments: catalog URL, token URL, credential, seconds."""
import sys
import time

from pyiceberg.catalog import load_catalog

url, token_url, credential, seconds = sys.argv[1:5]
catalog = load_catalog(
    "skein", type="rest", uri=url, credential=credential, warehouse="lake", **{"oauth2-server-uri": token_url}
)
end = time.monotonic() + float(seconds)
print(catalog.list_namespaces())
while time.monotonic() < end:
    time.sleep(0.2)
    print(catalog.list_namespaces())
