"""ADBC's Flight SQL driver with a token of an account. usage: flight_token.py <url> <user> <token> <sql>; prints its rows as JSON: with the token
as bearer, and as password"""

import json
import sys

import adbc_driver_flightsql.dbapi as dbapi

url, user, token, sql = sys.argv[1:]
answers = []
for options in [{"adbc.flight.sql.authorization_header": f"Bearer {token}"}, {"username": user, "password": token}]:
    with dbapi.connect(url, db_kwargs=options, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        answers.append(cursor.fetchall())
print(json.dumps(answers))
