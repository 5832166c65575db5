# kedge with the review app, profiles and workbooks, as a user without rights. Works in /work: mount your files there.
#   docker build -t kedge .
#   docker run --rm -v "$PWD:/work" kedge match left.csv right.csv --anchors known.csv -o run
FROM python:3.13.9-slim-trixie AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN python -m venv /opt/kedge \
    && /opt/kedge/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt ".[review,profiles,xlsx]"

FROM python:3.13.9-slim-trixie
COPY --from=build /opt/kedge /opt/kedge
# Compiled functions are kept in the user's home, so that a container that is started again need not compile them.
RUN useradd --create-home --uid 1000 kedge && install --directory --owner kedge /work
ENV PATH=/opt/kedge/bin:$PATH
USER 1000:1000
WORKDIR /work
ENTRYPOINT ["kedge"]
CMD ["--help"]
