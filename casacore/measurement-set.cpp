// Measurement Sets through casacore: reading and writing, row by row, behind plain C functions.
// libraries: casa_ms casa_measures casa_tables casa_casa
// package: casacore-dev
//
// Nothing thrown crosses the boundary: a function that fails returns a null pointer or a status other than 0, and
// ms_problem() says why.
#include <casacore/casa/Arrays/Array.h>
#include <casacore/casa/Arrays/Matrix.h>
#include <casacore/casa/Arrays/Vector.h>
#include <casacore/casa/Logging/LogSink.h>
#include <casacore/casa/Logging/NullLogSink.h>
#include <casacore/measures/Measures/MCDirection.h>
#include <casacore/measures/Measures/MDirection.h>
#include <casacore/measures/Measures/MEpoch.h>
#include <casacore/measures/Measures/MeasConvert.h>
#include <casacore/measures/Measures/MeasFrame.h>
#include <casacore/ms/MeasurementSets/MSColumns.h>
#include <casacore/ms/MeasurementSets/MeasurementSet.h>
#include <casacore/tables/DataMan/IncrementalStMan.h>
#include <casacore/tables/DataMan/StandardStMan.h>
#include <casacore/tables/DataMan/TiledShapeStMan.h>
#include <casacore/tables/Tables/ArrColDesc.h>
#include <casacore/tables/Tables/SetupNewTab.h>
#include <casacore/tables/Tables/TableAttr.h>
#include <casacore/tables/Tables/TableDesc.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace casacore;

namespace {

std::string problem;

template <typename Work>
auto guarded(Work work, decltype(work()) failed) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception &error) {
    problem = error.what();
  } catch (...) {
    problem = "an unknown failure";
  }
  return failed;
}

struct Set {
  std::unique_ptr<MeasurementSet> ms;
  std::unique_ptr<MSColumns> columns;
  std::string dataColumn;
  // Held for whoever asked last.
  std::string text;
};

/** Tables that a set must have by the rules and that are not read here: WSRT's and DP3's sets lack some. */
const std::vector<std::pair<const char *, TableDesc (*)()>> &unreadTables() {
  static const std::vector<std::pair<const char *, TableDesc (*)()>> all = {
      {"POINTING", [] { return MSPointing::requiredTableDesc(); }},
      {"STATE", [] { return MSState::requiredTableDesc(); }},
      {"PROCESSOR", [] { return MSProcessor::requiredTableDesc(); }},
      {"FLAG_CMD", [] { return MSFlagCmd::requiredTableDesc(); }},
      {"HISTORY", [] { return MSHistory::requiredTableDesc(); }},
  };
  return all;
}

/** Read only. A missing table that is not read is replaced by an empty one in memory; the set itself is not touched. */
std::unique_ptr<MeasurementSet> openSet(const String &path) {
  const Table whole(path, Table::Old);
  const auto isThere = [&](const char *name) {
    const auto &keywords = whole.keywordSet();
    return keywords.isDefined(name) && keywords.dataType(name) == TpTable &&
           Table::isReadable(keywords.tableAttributes(name).name());
  };
  const auto &tables = unreadTables();
  if (std::all_of(tables.begin(), tables.end(), [&](const auto &one) { return isThere(one.first); }))
    return std::make_unique<MeasurementSet>(path, Table::Old);
  // A table of one part has keywords of its own, in memory alone; casacore hands out those of a set on disk read-only.
  const Table view(Block<Table>(1, whole), Block<String>(), String());
  auto &keywords = const_cast<TableRecord &>(view.keywordSet());
  for (const auto &[name, description] : tables) {
    if (isThere(name)) continue;
    SetupNewTable fresh(path + "/" + name, description(), Table::Scratch);
    keywords.defineTable(name, Table(fresh, Table::Memory, 0));
  }
  return std::make_unique<MeasurementSet>(view);
}

Set *of(void *handle) { return static_cast<Set *>(handle); }

/** What it says of its values' units: pyuvdata's word, or that of casacore's reader of UVFITS. */
std::string unitsOf(const Set &set) {
  const auto &keywords = TableColumn(*set.ms, set.dataColumn).keywordSet();
  for (const char *name : {"QuantumUnits", "UNIT"}) {
    if (!keywords.isDefined(name)) continue;
    if (keywords.dataType(name) == TpString) return keywords.asString(name);
    if (keywords.dataType(name) == TpArrayString) {
      const Array<String> all(keywords.asArrayString(name));
      return all.empty() ? "" : std::string(all.data()[0]);
    }
  }
  return "";
}

/** A line for each kind of feed: its receptors' names, then their angles in radians. */
std::string feedsOf(const Set &set) {
  const auto &feed = set.columns->feed();
  std::set<std::string> lines;
  for (rownr_t row = 0; row < set.ms->feed().nrow(); row++) {
    if (!feed.polarizationType().isDefined(row) || !feed.receptorAngle().isDefined(row)) continue;
    const Vector<String> types(feed.polarizationType()(row));
    const Vector<Double> angles(feed.receptorAngle()(row));
    std::ostringstream line;
    line.precision(9);
    for (const auto &type : types) line << type << " ";
    for (const auto angle : angles) line << angle << " ";
    lines.insert(line.str());
  }
  std::string all;
  for (const auto &line : lines) all += line + "\n";
  return all;
}

/** The tables of baseline-dependent averaging (DP3) that it has. */
std::string averagingOf(const Set &set) {
  std::string all;
  for (const char *name : {"BDA_TIME_AXIS", "BDA_FACTORS", "BDA_TIME_FACTOR"})
    if (set.ms->keywordSet().isDefined(name)) all += std::string(name) + "\n";
  return all;
}

/** Of a field, in its own frame. */
MDirection phaseDirection(const Set &set, rownr_t field) {
  return set.columns->field().phaseDirMeasCol()(field).data()[0];
}

/** The frame that a field's place is given in; what moves is followed by "moving". */
std::string frameOf(const Set &set, rownr_t field) {
  const Matrix<Double> direction(set.columns->field().phaseDir()(field));
  const auto &ephemeris = set.columns->field().ephemerisId();
  bool moves = !ephemeris.isNull() && ephemeris(field) >= 0;
  for (size_t term = 1; term < direction.ncolumn(); term++)
    moves = moves || direction(0, term) != 0 || direction(1, term) != 0;
  return phaseDirection(set, field).getRefString() + (moves ? " moving" : "");
}

/** Frames that stand still against J2000's axes, so that places in them are places there. */
bool standsStill(const std::string &frame) { return frame == "B1950" || frame == "B1950_VLA"; }

}  // namespace

extern "C" {

const char *ms_problem() { return problem.c_str(); }

void *ms_open(const char *path, const char *column) {
  return guarded(
      [&]() -> void * {
        // It grumbles about tables of the Earth's axis, which no place here needs; what matters it throws.
        LogSinkInterface *silence = new NullLogSink;
        LogSink::globalSink(silence);
        auto set = std::make_unique<Set>();
        set->ms = openSet(path);
        set->columns = std::make_unique<MSColumns>(*set->ms);
        set->dataColumn = column;
        return set.release();
      },
      nullptr);
}

int ms_close(void *handle) {
  return guarded(
      [&]() {
        Set *set = of(handle);
        if (set->ms->isWritable()) set->ms->flush();
        delete set;
        return 0;
      },
      1);
}

// shape : rows, antennas, channels, correlations, data descriptions, fields
int ms_shape(void *handle, double *shape) {
  return guarded(
      [&]() {
        Set &set = *of(handle);
        shape[0] = static_cast<double>(set.ms->nrow());
        shape[1] = static_cast<double>(set.ms->antenna().nrow());
        const auto windows = set.ms->spectralWindow().nrow();
        const auto products = set.ms->polarization().nrow();
        const auto window = set.columns->dataDescription().spectralWindowId()(0);
        const auto product = set.columns->dataDescription().polarizationId()(0);
        if (windows == 0 || products == 0) throw std::runtime_error("it has no spectral window or polarisation");
        shape[2] = set.columns->spectralWindow().numChan()(window);
        shape[3] = set.columns->polarization().numCorr()(product);
        shape[4] = static_cast<double>(set.ms->dataDescription().nrow());
        shape[5] = static_cast<double>(set.ms->field().nrow());
        return 0;
      },
      1);
}

// Names of antennas, of fields, of the telescope, and the words of our own, each a line.
const char *ms_text(void *handle, const char *what) {
  return guarded(
      [&]() -> const char * {
        Set &set = *of(handle);
        const std::string word(what);
        set.text.clear();
        if (word == "antennas")
          for (rownr_t row = 0; row < set.ms->antenna().nrow(); row++)
            set.text += set.columns->antenna().name()(row) + "\n";
        else if (word == "mounts")
          for (rownr_t row = 0; row < set.ms->antenna().nrow(); row++)
            set.text += set.columns->antenna().mount()(row) + "\n";
        else if (word == "fields")
          for (rownr_t row = 0; row < set.ms->field().nrow(); row++)
            set.text += set.columns->field().name()(row) + "\n";
        else if (word == "telescope")
          set.text = set.ms->observation().nrow() > 0 ? set.columns->observation().telescopeName()(0) : String("");
        else if (word == "observer")
          set.text = set.ms->observation().nrow() > 0 ? set.columns->observation().observer()(0) : String("");
        else if (word == "columns") {
          const TableDesc description(set.ms->tableDesc());
          for (uInt k = 0; k < description.ncolumn(); k++)
            if (description[k].isArray() && description[k].dataType() == TpComplex)
              set.text += description[k].name() + "\n";
        } else if (word == "units")
          set.text = unitsOf(set);
        else if (word == "fieldFrames")
          for (rownr_t row = 0; row < set.ms->field().nrow(); row++) set.text += frameOf(set, row) + "\n";
        else if (word == "timeFrame")
          set.text = set.ms->nrow() > 0 ? set.columns->timeMeas()(0).getRefString() : String("");
        else if (word == "antennaFrame")
          set.text =
              set.ms->antenna().nrow() > 0 ? set.columns->antenna().positionMeas()(0).getRefString() : String("");
        else if (word == "frequencyFrame")
          set.text = MFrequency::showType(static_cast<uInt>(
              set.columns->spectralWindow().measFreqRef()(set.columns->dataDescription().spectralWindowId()(0))));
        else if (word == "averaging")
          set.text = averagingOf(set);
        else if (word == "feeds")
          set.text = feedsOf(set);
        else if (word == "pyuvdataOrientation" && set.ms->keywordSet().isDefined("pyuvdata_xorient"))
          set.text = set.ms->keywordSet().asString("pyuvdata_xorient");
        else if (word == "own" && set.ms->keywordSet().isDefined("CORELLA"))
          set.text = set.ms->keywordSet().asString("CORELLA");
        return set.text.c_str();
      },
      nullptr);
}

// positions : [antenna][3], diameters : [antenna], frequencies and widths : [channel], correlations : [product],
// directions : [field][2], radians, in J2000 where their own frame stands still against it
int ms_tables(void *handle, double *positions, double *diameters, double *frequencies, double *widths,
              int32_t *correlations, double *directions) {
  return guarded(
      [&]() {
        Set &set = *of(handle);
        for (rownr_t row = 0; row < set.ms->antenna().nrow(); row++) {
          const Vector<Double> place(set.columns->antenna().position()(row));
          for (int k = 0; k < 3; k++) positions[3 * row + k] = place(k);
          diameters[row] = set.columns->antenna().dishDiameter()(row);
        }
        const auto window = set.columns->dataDescription().spectralWindowId()(0);
        const Vector<Double> hz(set.columns->spectralWindow().chanFreq()(window));
        const Vector<Double> width(set.columns->spectralWindow().chanWidth()(window));
        for (size_t c = 0; c < hz.size(); c++) {
          frequencies[c] = hz(c);
          widths[c] = width(c);
        }
        const Vector<Int> types(
            set.columns->polarization().corrType()(set.columns->dataDescription().polarizationId()(0)));
        for (size_t q = 0; q < types.size(); q++) correlations[q] = types(q);
        for (rownr_t row = 0; row < set.ms->field().nrow(); row++) {
          const Matrix<Double> direction(set.columns->field().phaseDir()(row));
          directions[2 * row] = direction(0, 0);
          directions[2 * row + 1] = direction(1, 0);
          if (!standsStill(frameOf(set, row)) || set.ms->nrow() == 0) continue;
          // FK4's axes turn slowly: the day counts, and no more of when and where.
          const MEpoch day(MVEpoch(std::floor(set.columns->time()(0) / 86400)), MEpoch::TDB);
          const MDirection::Ref wanted(MDirection::J2000, MeasFrame(day));
          const auto there = MDirection::Convert(phaseDirection(set, row), wanted)();
          const Vector<Double> angles(there.getAngle("rad").getValue());
          directions[2 * row] = angles(0);
          directions[2 * row + 1] = angles(1);
        }
        return 0;
      },
      1);
}

// times and intervals in seconds, uvw : [row][3] in metres
int ms_rows(void *handle, double from, double count, double *times, double *intervals, int32_t *antenna1,
            int32_t *antenna2, int32_t *fields, int32_t *descriptions, double *uvw) {
  return guarded(
      [&]() {
        Set &set = *of(handle);
        const auto first = static_cast<rownr_t>(from);
        for (rownr_t k = 0; k < static_cast<rownr_t>(count); k++) {
          const rownr_t row = first + k;
          times[k] = set.columns->time()(row);
          const double exposure = set.columns->exposure()(row);
          intervals[k] = exposure != 0 ? exposure : set.columns->interval()(row);
          antenna1[k] = set.columns->antenna1()(row);
          antenna2[k] = set.columns->antenna2()(row);
          fields[k] = set.columns->fieldId()(row);
          descriptions[k] = set.columns->dataDescId()(row);
          const Vector<Double> place(set.columns->uvw()(row));
          for (int axis = 0; axis < 3; axis++) uvw[3 * k + axis] = place(axis);
        }
        return 0;
      },
      1);
}

// data : [row][channel][product][re, im], weights alike without the parts; zero or less is flagged
int ms_values(void *handle, double from, double count, double channels, double products, float *data, float *weights) {
  return guarded(
      [&]() {
        Set &set = *of(handle);
        const auto first = static_cast<rownr_t>(from);
        const auto perRow = static_cast<size_t>(channels * products);
        const ArrayColumn<Complex> values(*set.ms, set.dataColumn);
        const auto &spectrum = set.columns->weightSpectrum();
        for (rownr_t k = 0; k < static_cast<rownr_t>(count); k++) {
          const rownr_t row = first + k;
          const Array<Complex> cell(values(row));
          const Array<Bool> flags(set.columns->flag()(row));
          if (cell.size() != perRow || flags.size() != perRow) throw std::runtime_error("its rows differ in shape");
          // Products run fastest in both.
          std::memcpy(data + 2 * perRow * k, cell.data(), perRow * sizeof(Complex));
          float *weight = weights + perRow * k;
          if (!spectrum.isNull() && spectrum.isDefined(row) && spectrum(row).size() == perRow) {
            const Array<Float> each(spectrum(row));
            std::memcpy(weight, each.data(), perRow * sizeof(float));
          } else {
            const Vector<Float> each(set.columns->weight()(row));
            for (size_t at = 0; at < perRow; at++) weight[at] = each(at % static_cast<size_t>(products));
          }
          const bool dropped = set.columns->flagRow()(row);
          const Bool *flag = flags.data();
          for (size_t at = 0; at < perRow; at++)
            if (dropped || flag[at]) weight[at] = -std::fabs(weight[at]);
        }
        return 0;
      },
      1);
}

// names : antennas, each a line. directions are the one field's, radians; receptorAngles : [2], of every feed, radians.
void *ms_create(const char *path, const char *telescope, const char *names, double antennas, const double *positions,
                const double *diameters, double channels, const double *frequencies, double channelWidth,
                double products, const int32_t *correlations, const char *field, double longitude, double latitude,
                const char *own, const char *history, const char *units, const double *receptorAngles,
                const char *mount) {
  return guarded(
      [&]() -> void * {
        TableDesc description(MS::requiredTableDesc());
        MS::addColumnToDesc(description, MS::DATA, 2);
        MS::addColumnToDesc(description, MS::WEIGHT_SPECTRUM, 2);
        SetupNewTable fresh(String(path), description, Table::New);
        IncrementalStMan slow("slow");
        StandardStMan rows("rows", 32768);
        fresh.bindAll(slow);
        for (const char *name : {"ANTENNA1", "ANTENNA2", "UVW", "WEIGHT", "SIGMA"}) fresh.bindColumn(name, rows);
        const auto tile = IPosition(3, static_cast<ssize_t>(products), static_cast<ssize_t>(channels),
                                    std::max<ssize_t>(1, 131072 / static_cast<ssize_t>(products * channels)));
        TiledShapeStMan data("data", tile), flag("flag", tile), spectrum("spectrum", tile);
        fresh.bindColumn("DATA", data);
        fresh.bindColumn("FLAG", flag);
        fresh.bindColumn("WEIGHT_SPECTRUM", spectrum);
        auto set = std::make_unique<Set>();
        set->ms = std::make_unique<MeasurementSet>(fresh);
        set->ms->createDefaultSubtables(Table::New);
        set->columns = std::make_unique<MSColumns>(*set->ms);
        MSColumns &columns = *set->columns;
        const auto count = static_cast<rownr_t>(antennas);
        set->ms->antenna().addRow(count);
        set->ms->feed().addRow(count);
        const char *rest = names;
        const bool circular = correlations[0] < 9;
        for (rownr_t row = 0; row < count; row++) {
          const char *end = std::strchr(rest, '\n');
          const String name(rest, static_cast<size_t>((end ? end : rest + std::strlen(rest)) - rest));
          rest = end ? end + 1 : rest;
          columns.antenna().name().put(row, name);
          columns.antenna().station().put(row, name);
          columns.antenna().type().put(row, "GROUND-BASED");
          columns.antenna().mount().put(row, mount);
          Vector<Double> place(3), none(3, 0.0);
          for (int k = 0; k < 3; k++) place(k) = positions[3 * row + k];
          columns.antenna().position().put(row, place);
          columns.antenna().offset().put(row, none);
          columns.antenna().dishDiameter().put(row, diameters[row]);
          columns.antenna().flagRow().put(row, False);
          columns.feed().antennaId().put(row, static_cast<Int>(row));
          columns.feed().feedId().put(row, 0);
          columns.feed().spectralWindowId().put(row, -1);
          columns.feed().time().put(row, 0);
          columns.feed().interval().put(row, 0);
          columns.feed().numReceptors().put(row, 2);
          columns.feed().beamId().put(row, -1);
          columns.feed().beamOffset().put(row, Matrix<Double>(2, 2, 0.0));
          Vector<String> types(2);
          types(0) = circular ? "R" : "X";
          types(1) = circular ? "L" : "Y";
          columns.feed().polarizationType().put(row, types);
          Matrix<Complex> response(2, 2, Complex(0));
          response(0, 0) = response(1, 1) = Complex(1);
          columns.feed().polResponse().put(row, response);
          columns.feed().position().put(row, none);
          Vector<Double> angles(2);
          for (int k = 0; k < 2; k++) angles(k) = receptorAngles[k];
          columns.feed().receptorAngle().put(row, angles);
        }
        const auto bands = static_cast<ssize_t>(channels);
        Vector<Double> hz(bands), width(bands, channelWidth);
        for (ssize_t c = 0; c < bands; c++) hz(c) = frequencies[c];
        set->ms->spectralWindow().addRow(1);
        auto &window = columns.spectralWindow();
        window.numChan().put(0, static_cast<Int>(bands));
        window.name().put(0, "");
        window.refFrequency().put(0, hz(bands / 2));
        window.chanFreq().put(0, hz);
        window.chanWidth().put(0, width);
        window.effectiveBW().put(0, width);
        window.resolution().put(0, width);
        window.totalBandwidth().put(0, channelWidth * static_cast<double>(bands));
        window.measFreqRef().put(0, MFrequency::TOPO);
        window.netSideband().put(0, 1);
        window.freqGroup().put(0, 0);
        window.freqGroupName().put(0, "");
        window.ifConvChain().put(0, 0);
        window.flagRow().put(0, False);
        const auto kinds = static_cast<ssize_t>(products);
        Vector<Int> types(kinds);
        Matrix<Int> receptors(2, kinds);
        for (ssize_t q = 0; q < kinds; q++) {
          types(q) = correlations[q];
          // Stokes codes run RR, RL, LR, LL from 5 and XX, XY, YX, YY from 9.
          const int place = (correlations[q] - 5) % 4;
          receptors(0, q) = place / 2;
          receptors(1, q) = place % 2;
        }
        set->ms->polarization().addRow(1);
        columns.polarization().numCorr().put(0, static_cast<Int>(kinds));
        columns.polarization().corrType().put(0, types);
        columns.polarization().corrProduct().put(0, receptors);
        columns.polarization().flagRow().put(0, False);
        set->ms->dataDescription().addRow(1);
        columns.dataDescription().spectralWindowId().put(0, 0);
        columns.dataDescription().polarizationId().put(0, 0);
        columns.dataDescription().flagRow().put(0, False);
        Matrix<Double> direction(2, 1);
        direction(0, 0) = longitude;
        direction(1, 0) = latitude;
        set->ms->field().addRow(1);
        columns.field().name().put(0, field);
        columns.field().code().put(0, "");
        columns.field().time().put(0, 0);
        columns.field().numPoly().put(0, 0);
        columns.field().delayDir().put(0, direction);
        columns.field().phaseDir().put(0, direction);
        columns.field().referenceDir().put(0, direction);
        columns.field().sourceId().put(0, -1);
        columns.field().flagRow().put(0, False);
        set->ms->observation().addRow(1);
        columns.observation().telescopeName().put(0, telescope);
        columns.observation().observer().put(0, "");
        columns.observation().project().put(0, "");
        columns.observation().scheduleType().put(0, "");
        columns.observation().timeRange().put(0, Vector<Double>(2, 0.0));
        columns.observation().releaseDate().put(0, 0);
        columns.observation().log().put(0, Vector<String>(1, ""));
        columns.observation().schedule().put(0, Vector<String>(1, ""));
        columns.observation().flagRow().put(0, False);
        set->ms->history().addRow(1);
        columns.history().time().put(0, 0);
        columns.history().observationId().put(0, 0);
        columns.history().message().put(0, history);
        columns.history().priority().put(0, "INFO");
        columns.history().origin().put(0, "corella");
        columns.history().objectId().put(0, -1);
        columns.history().application().put(0, "corella");
        columns.history().cliCommand().put(0, Vector<String>(1, ""));
        columns.history().appParams().put(0, Vector<String>(1, ""));
        set->ms->rwKeywordSet().define("CORELLA", String(own));
        // A plain word, as pyuvdata writes and reads it.
        if (*units != 0) columns.data().rwKeywordSet().define("QuantumUnits", String(units));
        return set.release();
      },
      nullptr);
}

// One time's rows: data and weights as ms_values gives them, uvw : [row][3]
int ms_append(void *handle, double rows, double time, const double *intervals, const int32_t *antenna1,
              const int32_t *antenna2, const double *uvw, double channels, double products, const float *data,
              const float *weights, double scan) {
  return guarded(
      [&]() {
        Set &set = *of(handle);
        MSColumns &columns = *set.columns;
        const auto count = static_cast<rownr_t>(rows);
        const rownr_t first = set.ms->nrow();
        const auto bands = static_cast<ssize_t>(channels);
        const auto kinds = static_cast<ssize_t>(products);
        const auto perRow = static_cast<size_t>(bands * kinds);
        set.ms->addRow(count);
        Matrix<Complex> values(kinds, bands);
        Matrix<Bool> flags(kinds, bands);
        Matrix<Float> spectrum(kinds, bands);
        Vector<Float> mean(kinds), sigma(kinds);
        Vector<Double> place(3);
        for (rownr_t k = 0; k < count; k++) {
          const rownr_t row = first + k;
          columns.time().put(row, time);
          columns.timeCentroid().put(row, time);
          columns.interval().put(row, intervals[k]);
          columns.exposure().put(row, intervals[k]);
          columns.antenna1().put(row, antenna1[k]);
          columns.antenna2().put(row, antenna2[k]);
          for (int axis = 0; axis < 3; axis++) place(axis) = uvw[3 * k + axis];
          columns.uvw().put(row, place);
          std::memcpy(values.data(), data + 2 * perRow * k, perRow * sizeof(Complex));
          mean = 0.0f;
          bool any = false;
          for (size_t at = 0; at < perRow; at++) {
            const float weight = weights[perRow * k + at];
            flags.data()[at] = !(weight > 0);
            spectrum.data()[at] = std::fabs(weight);
            mean(at % static_cast<size_t>(kinds)) += std::fabs(weight) / static_cast<float>(bands);
            any = any || weight > 0;
          }
          for (ssize_t q = 0; q < kinds; q++) sigma(q) = mean(q) > 0 ? 1 / std::sqrt(mean(q)) : 1;
          columns.data().put(row, values);
          columns.flag().put(row, flags);
          columns.weightSpectrum().put(row, spectrum);
          columns.weight().put(row, mean);
          columns.sigma().put(row, sigma);
          columns.flagRow().put(row, !any);
          columns.arrayId().put(row, 0);
          columns.dataDescId().put(row, 0);
          columns.feed1().put(row, 0);
          columns.feed2().put(row, 0);
          columns.fieldId().put(row, 0);
          columns.observationId().put(row, 0);
          columns.processorId().put(row, -1);
          columns.scanNumber().put(row, static_cast<Int>(scan));
          columns.stateId().put(row, -1);
        }
        set.ms->flush();
        return 0;
      },
      1);
}

// From the first to the last moment.
int ms_span(void *handle, double from, double to) {
  return guarded(
      [&]() {
        Vector<Double> span(2);
        span(0) = from;
        span(1) = to;
        of(handle)->columns->observation().timeRange().put(0, span);
        return 0;
      },
      1);
}
}
